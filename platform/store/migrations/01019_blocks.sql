-- +goose NO TRANSACTION
-- +goose Up
-- Who blocks whom, at the blocker's home: the row that decides. A block that ended stays, with status none.
CREATE TABLE IF NOT EXISTS blocks (
  home              TEXT        NOT NULL,
  blocker_id        TEXT        NOT NULL,
  blocked_id        TEXT        NOT NULL,
  blocker_public_id TEXT        NOT NULL,
  blocked_public_id TEXT        NOT NULL,
  status            TEXT        NOT NULL,
  version           BIGINT      NOT NULL,
  created_at        TIMESTAMPTZ NOT NULL,
  updated_at        TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT blocks_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT blocks_status_check CHECK (status IN ('blocked', 'none')),
  CONSTRAINT blocks_pkey PRIMARY KEY (home, blocker_id, blocked_id)
){{locality}};
CREATE INDEX IF NOT EXISTS blocks_by_created ON blocks (home, blocker_id, status, created_at, blocked_id);
