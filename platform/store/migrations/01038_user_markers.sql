-- +goose NO TRANSACTION
-- +goose Up
-- Up to when a user's devices know the user's markers.
CREATE TABLE IF NOT EXISTS user_markers (
  home         TEXT        NOT NULL,
  user_id      TEXT        NOT NULL,
  last_sync_at TIMESTAMPTZ NOT NULL,
  created_at   TIMESTAMPTZ NOT NULL,
  updated_at   TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT user_markers_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT user_markers_pkey PRIMARY KEY (home, user_id)
){{locality}};
