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
  created_at TIMESTAMPTZ NOT NULL,
  -- Rows of a home with the same key are delivered in the order of written_at. Rows without a key have no order.
  order_key  TEXT        NOT NULL DEFAULT '',
  -- When the row was written, by the clock of the database.
  written_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  -- The trace of the request that wrote the row, as in the header traceparent; empty if it is not exported.
  trace      TEXT        NOT NULL DEFAULT '',
  has_failed BOOLEAN     NOT NULL GENERATED ALWAYS AS (attempts > 0) STORED{{region}},
  CONSTRAINT outbox_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT outbox_pkey PRIMARY KEY (home, lane, id)
){{locality}};
CREATE INDEX IF NOT EXISTS outbox_due ON outbox (home, lane, not_before, id);
-- Partial, so that no statement that reads by lane can use it, whatever the statistics of the table say.
CREATE INDEX IF NOT EXISTS outbox_by_key ON outbox (home, order_key, written_at, id) WHERE order_key <> '';
