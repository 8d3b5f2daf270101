-- +goose NO TRANSACTION
-- +goose Up
-- The last number of a home's event log, and the last one that is gone from it. Every batch of events changes the row, so
-- that transactions which add events come one after another: their order is the order of the numbers.
CREATE TABLE IF NOT EXISTS realtime_heads (
  home     TEXT   NOT NULL,
  last_seq BIGINT NOT NULL,
  trimmed  BIGINT NOT NULL{{region}},
  CONSTRAINT realtime_heads_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT realtime_heads_pkey PRIMARY KEY (home)
){{locality}};
