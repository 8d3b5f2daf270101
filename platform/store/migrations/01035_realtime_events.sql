-- +goose NO TRANSACTION
-- +goose Up
-- The event log of a home: what its users are told. An event comes from the outbox of the home where it happened, and is
-- kept for a day. topic is the user or the community that it is about.
CREATE TABLE IF NOT EXISTS realtime_events (
  home       TEXT        NOT NULL,
  seq        BIGINT      NOT NULL,
  id         TEXT        NOT NULL,
  name       TEXT        NOT NULL,
  topic      TEXT        NOT NULL,
  sender_id  TEXT        NOT NULL,
  payload    JSONB       NOT NULL,
  sent_at    TIMESTAMPTZ NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  -- The trace of the request that caused the event, as in the header traceparent; empty if it is not exported.
  trace      TEXT        NOT NULL DEFAULT ''{{region}},
  CONSTRAINT realtime_events_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT realtime_events_pkey PRIMARY KEY (home, seq),
  CONSTRAINT realtime_events_id_key UNIQUE (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS realtime_events_by_topic ON realtime_events (home, topic, seq);
