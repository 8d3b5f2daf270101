-- +goose NO TRANSACTION
-- +goose Up
-- One row a user and target, at the target's home: the facts that every flag count is made of.
CREATE TABLE IF NOT EXISTS flags (
  home        TEXT        NOT NULL,
  target_id   TEXT        NOT NULL,
  user_id     TEXT        NOT NULL,
  target_type TEXT        NOT NULL,
  reason      TEXT        NOT NULL,
  detail      TEXT        NOT NULL,
  created_at  TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT flags_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT flags_pkey PRIMARY KEY (home, target_id, user_id)
){{locality}};
