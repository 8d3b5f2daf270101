-- +goose NO TRANSACTION
-- +goose Up
-- Counts of facts, in shards so that writers of one count seldom meet. A shard changes only in the transaction that
-- makes or ends the fact.
CREATE TABLE IF NOT EXISTS counters (
  home     TEXT   NOT NULL,
  ref      TEXT   NOT NULL,
  kind     TEXT   NOT NULL,
  shard    BIGINT NOT NULL,
  n        BIGINT NOT NULL,
  -- The latest comments that the shard has counted, see store/latest_comment.go; empty for none.
  latest_1 TEXT   NOT NULL DEFAULT '',
  latest_2 TEXT   NOT NULL DEFAULT '',
  latest_3 TEXT   NOT NULL DEFAULT ''{{region}},
  CONSTRAINT counters_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT counters_pkey PRIMARY KEY (home, ref, kind, shard)
){{locality}};
