-- +goose NO TRANSACTION
-- +goose Up
-- One row a user, reference and name, at the reference's home: the facts that every reaction count is made of.
CREATE TABLE IF NOT EXISTS reactions (
  home           TEXT        NOT NULL,
  reference_id   TEXT        NOT NULL,
  user_id        TEXT        NOT NULL,
  name           TEXT        NOT NULL,
  id             TEXT        NOT NULL,
  reference_type TEXT        NOT NULL,
  user_public_id TEXT        NOT NULL,
  created_at     TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT reactions_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT reactions_pkey PRIMARY KEY (home, reference_id, user_id, name)
){{locality}};
CREATE INDEX IF NOT EXISTS reactions_by_created ON reactions (home, reference_id, created_at, id);
CREATE INDEX IF NOT EXISTS reactions_by_name ON reactions (home, reference_id, name, created_at, id);
