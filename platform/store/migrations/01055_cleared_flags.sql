-- +goose NO TRANSACTION
-- +goose Up
-- The flags that moderators cleared, one row a user and target: the first
-- one. Columns are as in flags.
CREATE TABLE IF NOT EXISTS cleared_flags (
  home        TEXT        NOT NULL,
  target_id   TEXT        NOT NULL,
  user_id     TEXT        NOT NULL,
  target_type TEXT        NOT NULL,
  reason      TEXT        NOT NULL,
  detail      TEXT        NOT NULL,
  created_at  TIMESTAMPTZ NOT NULL,
  id          TEXT        NOT NULL{{region}},
  CONSTRAINT cleared_flags_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT cleared_flags_pkey PRIMARY KEY (home, target_id, user_id)
){{locality}};
