-- +goose NO TRANSACTION
-- +goose Up
-- The followers of a user, at the user's home: the mirror of follows, kept by the outbox. version is the mirrored row's;
-- the highest one stands.
CREATE TABLE IF NOT EXISTS followers (
  home               TEXT        NOT NULL,
  followee_id        TEXT        NOT NULL,
  follower_id        TEXT        NOT NULL,
  follower_public_id TEXT        NOT NULL,
  followee_public_id TEXT        NOT NULL,
  status             TEXT        NOT NULL,
  version            BIGINT      NOT NULL,
  created_at         TIMESTAMPTZ NOT NULL,
  updated_at         TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT followers_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT followers_status_check CHECK (status IN ('pending', 'accepted', 'none')),
  CONSTRAINT followers_pkey PRIMARY KEY (home, followee_id, follower_id)
){{locality}};
CREATE INDEX IF NOT EXISTS followers_by_created ON followers (home, followee_id, status, created_at, follower_id);
-- The users of this home that a user follows: feeds find their targets by it.
CREATE INDEX IF NOT EXISTS followers_by_follower ON followers (home, follower_id, status, followee_id);
