-- +goose NO TRANSACTION
-- +goose Up
-- An upload under way, under the id of the file that it becomes. The row is written before the first byte is stored and
-- goes in the transaction that makes the file, so what is left after expires_at names objects that no file has.
CREATE TABLE IF NOT EXISTS uploads (
  home       TEXT        NOT NULL,
  id         TEXT        NOT NULL,
  abandoned  BOOLEAN     NOT NULL DEFAULT false,
  expires_at TIMESTAMPTZ NOT NULL,
  created_at TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT uploads_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT uploads_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS uploads_by_expiry ON uploads (home, expires_at, id);
