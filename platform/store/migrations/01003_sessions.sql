-- +goose NO TRANSACTION
-- +goose Up
-- authenticated: the session was created with an authToken, which users with network roles need.
CREATE TABLE IF NOT EXISTS sessions (
  home          TEXT        NOT NULL,
  user_id       TEXT        NOT NULL,
  id            TEXT        NOT NULL,
  device_hash   BYTEA       NOT NULL,
  created_at    TIMESTAMPTZ NOT NULL,
  expires_at    TIMESTAMPTZ NOT NULL,
  revoked_at    TIMESTAMPTZ,
  authenticated BOOLEAN     NOT NULL DEFAULT false{{region}},
  CONSTRAINT sessions_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT sessions_pkey PRIMARY KEY (home, user_id, id)
){{locality}};
CREATE INDEX IF NOT EXISTS sessions_by_expiry ON sessions (home, expires_at);
CREATE INDEX IF NOT EXISTS sessions_by_created ON sessions (home, user_id, created_at, id);
