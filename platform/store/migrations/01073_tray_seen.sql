-- +goose NO TRANSACTION
-- +goose Up
-- When a user last looked at the tray, at the home of the user.
CREATE TABLE IF NOT EXISTS tray_seen (
  home    TEXT        NOT NULL,
  user_id TEXT        NOT NULL,
  seen_at TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT tray_seen_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT tray_seen_pkey PRIMARY KEY (home, user_id)
){{locality}};
