-- +goose NO TRANSACTION
-- +goose Up
-- The devices to which notifications are pushed, at the home of the user. device is the hash of the sessions, in hexadecimal: a
-- device without a session gets nothing.
CREATE TABLE IF NOT EXISTS push_devices (
  home       TEXT        NOT NULL,
  user_id    TEXT        NOT NULL,
  device     TEXT        NOT NULL,
  platform   TEXT        NOT NULL,
  provider   TEXT        NOT NULL,
  token      TEXT        NOT NULL,
  token_hash BYTEA       NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT push_devices_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT push_devices_pkey PRIMARY KEY (home, user_id, device)
){{locality}};
CREATE INDEX IF NOT EXISTS push_devices_by_token ON push_devices (home, token_hash);
