-- +goose NO TRANSACTION
-- +goose Up
-- A request with an Idempotency-Key, at the home of its caller. attempt is the execution that holds the key until
-- locked_until; answer is NULL until it has succeeded.
CREATE TABLE IF NOT EXISTS idempotency_keys (
  home         TEXT        NOT NULL,
  key          BYTEA       NOT NULL,
  request      BYTEA       NOT NULL,
  attempt      TEXT        NOT NULL,
  locked_until TIMESTAMPTZ NOT NULL,
  answer       BYTEA,
  expires_at   TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT idempotency_keys_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (home, key)
){{locality}};
CREATE INDEX IF NOT EXISTS idempotency_keys_by_expiry ON idempotency_keys (home, expires_at);
