-- +goose NO TRANSACTION
-- +goose Up
-- The progress of work that adds to the rows of a home what servers of earlier versions did not write.
CREATE TABLE IF NOT EXISTS backfills (
  home        TEXT        NOT NULL,
  name        TEXT        NOT NULL,
  step        TEXT        NOT NULL DEFAULT '',
  position    TEXT[]      NOT NULL DEFAULT '{}',
  version     BIGINT      NOT NULL DEFAULT 1,
  attempts    BIGINT      NOT NULL DEFAULT 0,
  due_at      TIMESTAMPTZ NOT NULL,
  finished_at TIMESTAMPTZ{{region}},
  CONSTRAINT backfills_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT backfills_pkey PRIMARY KEY (home, name)
){{locality}};
