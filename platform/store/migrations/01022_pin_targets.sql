-- +goose NO TRANSACTION
-- +goose Up
-- When the pins of a community last changed, or those of the network at this home.
CREATE TABLE IF NOT EXISTS pin_targets (
  home       TEXT        NOT NULL,
  target_id  TEXT        NOT NULL,
  changed_at TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT pin_targets_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT pin_targets_pkey PRIMARY KEY (home, target_id)
){{locality}};
