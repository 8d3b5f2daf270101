-- +goose NO TRANSACTION
-- +goose Up
-- uses_recorded: file_uses has every use of the file. Servers before this migration wrote none, so that the uses of
-- their files decide nothing. restricted: only those who may read what refers to the file may read it. unused_since:
-- since when nothing refers to the file; nothing may begin to refer to it while this is set. released: an object of the
-- uploader referred to the file and does so no more, so that the file is deleted when nothing else refers to it.
ALTER TABLE files
  ADD COLUMN IF NOT EXISTS uses_recorded BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS restricted BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS released BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS unused_since TIMESTAMPTZ;
