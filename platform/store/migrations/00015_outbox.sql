-- +goose NO TRANSACTION
-- +goose Up
-- What a transaction has to change or tell elsewhere; delivered at least once, in its own time.
CREATE TABLE IF NOT EXISTS outbox (
  home       TEXT        NOT NULL,
  lane       BIGINT      NOT NULL,
  id         TEXT        NOT NULL,
  topic      TEXT        NOT NULL,
  payload    JSONB       NOT NULL,
  attempts   BIGINT      NOT NULL DEFAULT 0,
  not_before TIMESTAMPTZ NOT NULL,
  created_at TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT outbox_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT outbox_pkey PRIMARY KEY (home, lane, id)
){{locality}};
CREATE INDEX IF NOT EXISTS outbox_due ON outbox (home, lane, not_before, id);
CREATE INDEX IF NOT EXISTS outbox_failed ON outbox (home, lane, created_at, id) WHERE attempts > 0;
