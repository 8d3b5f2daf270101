-- +goose NO TRANSACTION
-- +goose Up
-- Who follows whom, at the follower's home: the row that decides. version counts the changes of the row; one that ended
-- stays, with status none, so that what comes after it is newer.
CREATE TABLE IF NOT EXISTS follows (
  home               TEXT        NOT NULL,
  follower_id        TEXT        NOT NULL,
  followee_id        TEXT        NOT NULL,
  follower_public_id TEXT        NOT NULL,
  followee_public_id TEXT        NOT NULL,
  status             TEXT        NOT NULL,
  version            BIGINT      NOT NULL,
  created_at         TIMESTAMPTZ NOT NULL,
  updated_at         TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT follows_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT follows_status_check CHECK (status IN ('pending', 'accepted', 'none')),
  CONSTRAINT follows_pkey PRIMARY KEY (home, follower_id, followee_id)
){{locality}};
CREATE INDEX IF NOT EXISTS follows_by_created ON follows (home, follower_id, status, created_at, followee_id);
