-- +goose NO TRANSACTION
-- +goose Up
-- What the servers of a region have recently admitted for a key, in requests; it declines by the refill a second. A row is
-- worth nothing an hour after its last change.
CREATE TABLE IF NOT EXISTS rate_usages (
  home       TEXT        NOT NULL,
  key        BYTEA       NOT NULL,
  level      FLOAT8      NOT NULL,
  refill     FLOAT8      NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT rate_usages_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT rate_usages_pkey PRIMARY KEY (home, key)
){{locality}};
CREATE INDEX IF NOT EXISTS rate_usages_by_updated ON rate_usages (home, updated_at);
