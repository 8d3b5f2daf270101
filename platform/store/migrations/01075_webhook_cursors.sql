-- +goose NO TRANSACTION
-- +goose Up
-- How far a webhook has read the event log of a home, and the server that does it until leased_until. lost counts the events
-- that the log removed before.
CREATE TABLE IF NOT EXISTS webhook_cursors (
  home         TEXT        NOT NULL,
  webhook_id   TEXT        NOT NULL,
  last_seq     BIGINT      NOT NULL,
  lost         BIGINT      NOT NULL,
  owner        TEXT        NOT NULL,
  leased_until TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT webhook_cursors_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT webhook_cursors_pkey PRIMARY KEY (home, webhook_id)
){{locality}};
