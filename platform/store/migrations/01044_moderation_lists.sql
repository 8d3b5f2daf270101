-- +goose NO TRANSACTION
-- +goose Up
-- The version of a home's rules: another one after every change, so that a server knows whether it has them.
CREATE TABLE IF NOT EXISTS moderation_lists (
  home    TEXT NOT NULL,
  version TEXT NOT NULL{{region}},
  CONSTRAINT moderation_lists_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT moderation_lists_pkey PRIMARY KEY (home)
){{locality}};
