-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS sessions (
  home        TEXT        NOT NULL,
  user_id     TEXT        NOT NULL,
  id          TEXT        NOT NULL,
  device_hash BYTEA       NOT NULL,
  created_at  TIMESTAMPTZ NOT NULL,
  expires_at  TIMESTAMPTZ NOT NULL,
  revoked_at  TIMESTAMPTZ{{region}},
  CONSTRAINT sessions_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT sessions_pkey PRIMARY KEY (home, user_id, id)
){{locality}};
