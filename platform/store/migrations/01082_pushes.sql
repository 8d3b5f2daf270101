-- +goose NO TRANSACTION
-- +goose Up
-- Notifications that have to be sent to a device, at the home of its user. The id follows from what happened and the device, so that
-- an event that arrives twice is sent once.
CREATE TABLE IF NOT EXISTS pushes (
  home       TEXT        NOT NULL,
  provider   TEXT        NOT NULL,
  id         TEXT        NOT NULL,
  not_before TIMESTAMPTZ NOT NULL,
  user_id    TEXT        NOT NULL,
  device     TEXT        NOT NULL,
  actor_id   TEXT        NOT NULL,
  title      TEXT        NOT NULL,
  body       TEXT        NOT NULL,
  data       JSONB       NOT NULL,
  attempts   BIGINT      NOT NULL DEFAULT 0,
  created_at TIMESTAMPTZ NOT NULL,
  -- The trace of the request that caused the push, as in the header traceparent; empty if it is not exported.
  trace      TEXT        NOT NULL DEFAULT ''{{region}},
  CONSTRAINT pushes_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT pushes_pkey PRIMARY KEY (home, provider, id)
){{locality}};
CREATE INDEX IF NOT EXISTS pushes_by_time ON pushes (home, provider, not_before, id);
