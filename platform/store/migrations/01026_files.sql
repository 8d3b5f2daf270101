-- +goose NO TRANSACTION
-- +goose Up
-- An uploaded file, at the home of who uploaded it; owner_id is empty where an administrator did. A row is there only
-- while its objects are whole in the storage of that home. sizes are the smaller images that are kept in addition to the full one.
-- uses_recorded: file_uses has every use of the file; otherwise its uses decide nothing. restricted: only those who may
-- read what refers to the file may read it. released: an object of the uploader referred to the file and does so no more,
-- so that the file is deleted when nothing else refers to it. unused_since: nothing has referred to the file since then,
-- and nothing may begin to.
CREATE TABLE IF NOT EXISTS files (
  home            TEXT        NOT NULL,
  id              TEXT        NOT NULL,
  owner_id        TEXT        NOT NULL,
  owner_public_id TEXT        NOT NULL,
  type            TEXT        NOT NULL,
  access_type     TEXT        NOT NULL,
  feed_type       TEXT        NOT NULL,
  alt_text        TEXT        NOT NULL,
  name            TEXT        NOT NULL,
  extension       TEXT        NOT NULL,
  mime_type       TEXT        NOT NULL,
  size            BIGINT      NOT NULL,
  width           BIGINT      NOT NULL,
  height          BIGINT      NOT NULL,
  exif            JSONB       NOT NULL,
  gps             JSONB       NOT NULL,
  sizes           TEXT[]      NOT NULL,
  sizes_mime_type TEXT        NOT NULL,
  created_at      TIMESTAMPTZ NOT NULL,
  updated_at      TIMESTAMPTZ NOT NULL,
  uses_recorded   BOOL        NOT NULL DEFAULT false,
  restricted      BOOL        NOT NULL DEFAULT false,
  released        BOOL        NOT NULL DEFAULT false,
  unused_since    TIMESTAMPTZ{{region}},
  CONSTRAINT files_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT files_type_check CHECK (type IN ('file', 'image', 'video', 'clip', 'audio')),
  CONSTRAINT files_access_type_check CHECK (access_type IN ('public', 'network')),
  CONSTRAINT files_pkey PRIMARY KEY (home, id)
){{locality}};
-- For collecting the ids that move with a user.
CREATE INDEX IF NOT EXISTS files_by_owner ON files (home, owner_id, id);
