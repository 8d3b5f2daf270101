-- +goose NO TRANSACTION
-- +goose Up
-- The channels that a user does not want to see among the others, at the home of the user.
CREATE TABLE IF NOT EXISTS archived_channels (
  home       TEXT        NOT NULL,
  user_id    TEXT        NOT NULL,
  channel_id TEXT        NOT NULL,
  created_at TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT archived_channels_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT archived_channels_pkey PRIMARY KEY (home, user_id, channel_id)
){{locality}};
