-- +goose NO TRANSACTION
-- +goose Up
-- Who blocks a user, at the user's home: the mirror of blocks, kept by the outbox. The highest version stands.
CREATE TABLE IF NOT EXISTS blocked_by (
  home       TEXT        NOT NULL,
  blocked_id TEXT        NOT NULL,
  blocker_id TEXT        NOT NULL,
  status     TEXT        NOT NULL,
  version    BIGINT      NOT NULL,
  changed_at TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT blocked_by_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT blocked_by_pkey PRIMARY KEY (home, blocked_id, blocker_id)
){{locality}};
