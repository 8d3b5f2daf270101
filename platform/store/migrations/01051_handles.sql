-- +goose NO TRANSACTION
-- +goose Up
-- Who has a profile handle: a keyed hash, so that no personal data is part of a key, at the home that the hash determines.
CREATE TABLE IF NOT EXISTS handles (
  home        TEXT        NOT NULL,
  handle_hash BYTEA       NOT NULL,
  user_id     TEXT        NOT NULL,
  claim_id    TEXT        NOT NULL,
  claimed_at  TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT handles_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT handles_pkey PRIMARY KEY (home, handle_hash)
){{locality}};
