-- +goose NO TRANSACTION
-- +goose Up
-- Which attempt of a request with an Idempotency-Key has changed rows of a home. Every transaction of the request inserts
-- it, so that those of another attempt fail.
CREATE TABLE IF NOT EXISTS idempotency_marks (
  home       TEXT        NOT NULL,
  key        BYTEA       NOT NULL,
  attempt    TEXT        NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  -- The ids of the objects that the request has created with these changes, so that its answer can be read again.
  created    TEXT[]{{region}},
  CONSTRAINT idempotency_marks_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT idempotency_marks_pkey PRIMARY KEY (home, key)
){{locality}};
CREATE INDEX IF NOT EXISTS idempotency_marks_by_expiry ON idempotency_marks (home, expires_at);
