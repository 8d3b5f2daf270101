-- +goose NO TRANSACTION
-- +goose Up
-- Whether file_uses has every use of the file. Servers before this migration wrote none, so that the uses of their files
-- decide nothing.
ALTER TABLE files ADD COLUMN IF NOT EXISTS uses_recorded BOOL NOT NULL DEFAULT false;
