-- +goose NO TRANSACTION
-- +goose Up
-- What a user wants to be notified of, at the home of the user: of everything (level user, without a target), in a community or in a
-- channel.
CREATE TABLE IF NOT EXISTS notification_settings (
  home       TEXT        NOT NULL,
  user_id    TEXT        NOT NULL,
  level      TEXT        NOT NULL,
  target_id  TEXT        NOT NULL,
  enabled    BOOLEAN,
  events     JSONB       NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT notification_settings_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT notification_settings_pkey PRIMARY KEY (home, user_id, level, target_id)
){{locality}};
