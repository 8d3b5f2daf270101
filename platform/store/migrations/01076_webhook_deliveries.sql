-- +goose NO TRANSACTION
-- +goose Up
-- Events of a home's log for a webhook, without the objects that they are about, which are read for each attempt. at is when the
-- next attempt is due, or when the delivery ended.
CREATE TABLE IF NOT EXISTS webhook_deliveries (
  home       TEXT        NOT NULL,
  webhook_id TEXT        NOT NULL,
  seq        BIGINT      NOT NULL,
  id         TEXT        NOT NULL,
  name       TEXT        NOT NULL,
  object_id  TEXT        NOT NULL,
  sender_id  TEXT        NOT NULL,
  payload    JSONB       NOT NULL,
  sent_at    TIMESTAMPTZ NOT NULL,
  state      TEXT        NOT NULL,
  attempts   BIGINT      NOT NULL,
  at         TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  status     BIGINT      NOT NULL,
  error      TEXT        NOT NULL,
  took_ms    BIGINT      NOT NULL,
  -- The trace of the request that caused the event, as in the header traceparent; empty if it is not exported.
  trace      TEXT        NOT NULL DEFAULT ''{{region}},
  CONSTRAINT webhook_deliveries_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT webhook_deliveries_state_check CHECK (state IN ('waiting', 'blocked', 'delivered', 'dead')),
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (home, webhook_id, seq)
){{locality}};
CREATE INDEX IF NOT EXISTS webhook_deliveries_by_state ON webhook_deliveries (home, webhook_id, state, at, id);
CREATE INDEX IF NOT EXISTS webhook_deliveries_by_seq ON webhook_deliveries (home, webhook_id, state, seq);
CREATE INDEX IF NOT EXISTS webhook_deliveries_by_object ON webhook_deliveries (home, webhook_id, object_id, state, seq);
