-- +goose NO TRANSACTION
-- +goose Up
-- A file that an object of this home by the author does not refer to any more, until a job has deleted the file or found
-- another use of it. An empty author is an administrator.
CREATE TABLE IF NOT EXISTS file_releases (
  home      TEXT        NOT NULL,
  id        UUID        NOT NULL DEFAULT gen_random_uuid(),
  file_id   TEXT        NOT NULL,
  author_id TEXT        NOT NULL,
  due_at    TIMESTAMPTZ NOT NULL DEFAULT '1970-01-01 00:00:00+00'{{region}},
  CONSTRAINT file_releases_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT file_releases_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS file_releases_due ON file_releases (home, due_at, id);
