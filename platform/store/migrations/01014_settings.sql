-- +goose NO TRANSACTION
-- +goose Up
-- The network's settings, a row of each home; the newest change wins everywhere.
CREATE TABLE IF NOT EXISTS settings (
  home       TEXT        NOT NULL,
  name       TEXT        NOT NULL,
  value      JSONB       NOT NULL,
  changed_at TIMESTAMPTZ NOT NULL,
  origin     TEXT        NOT NULL{{region}},
  CONSTRAINT settings_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT settings_pkey PRIMARY KEY (home, name)
){{locality}};
