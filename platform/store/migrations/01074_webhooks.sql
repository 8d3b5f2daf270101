-- +goose NO TRANSACTION
-- +goose Up
-- Webhooks, at every home: a change is copied to the other homes, where the newest one wins. secret is encrypted.
CREATE TABLE IF NOT EXISTS webhooks (
  home       TEXT        NOT NULL,
  id         TEXT        NOT NULL,
  name       TEXT        NOT NULL,
  url        TEXT        NOT NULL,
  events     TEXT[]      NOT NULL,
  secret     BYTEA       NOT NULL,
  is_managed BOOL        NOT NULL,
  is_enabled BOOL        NOT NULL,
  is_deleted BOOL        NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  changed_at TIMESTAMPTZ NOT NULL,
  origin     TEXT        NOT NULL{{region}},
  CONSTRAINT webhooks_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT webhooks_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS webhooks_by_creation ON webhooks (home, is_deleted, created_at, id);
