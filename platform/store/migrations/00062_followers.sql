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
