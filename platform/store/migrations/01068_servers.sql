-- +goose NO TRANSACTION
-- +goose Up
-- The running servers, each at the first home that answers it, and what they can do. A server whose row is older than a minute has
-- stopped. seen_at is a time of the database's clock.
CREATE TABLE IF NOT EXISTS servers (
  home         TEXT        NOT NULL,
  id           TEXT        NOT NULL,
  version      TEXT        NOT NULL,
  capabilities TEXT[]      NOT NULL,
  seen_at      TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT servers_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT servers_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS servers_by_seen ON servers (home, seen_at);
