-- +goose NO TRANSACTION
-- +goose Up
-- One row a target that has or had stories, recomputed whenever one is made or goes: what a list of many targets
-- needs to know of each.
CREATE TABLE IF NOT EXISTS story_targets (
  home             TEXT        NOT NULL,
  target_id        TEXT        NOT NULL,
  target_type      TEXT        NOT NULL,
  target_public_id TEXT        NOT NULL,
  last_expires_at  TIMESTAMPTZ NOT NULL,
  updated_at       TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT story_targets_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT story_targets_pkey PRIMARY KEY (home, target_id)
){{locality}};
