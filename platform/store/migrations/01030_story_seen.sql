-- +goose NO TRANSACTION
-- +goose Up
-- How far a user has seen the stories of a target, at the target's home: the expiry of the last to expire of those that the
-- user viewed.
CREATE TABLE IF NOT EXISTS story_seen (
  home            TEXT        NOT NULL,
  user_id         TEXT        NOT NULL,
  target_id       TEXT        NOT NULL,
  seen_expires_at TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT story_seen_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT story_seen_pkey PRIMARY KEY (home, user_id, target_id)
){{locality}};
