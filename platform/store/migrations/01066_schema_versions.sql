-- +goose NO TRANSACTION
-- +goose Up
-- The version of the schema, at each home, so that a server reads it where it runs. The end of a migration sets it.
CREATE TABLE IF NOT EXISTS schema_versions (
  home    TEXT   NOT NULL,
  version BIGINT NOT NULL{{region}},
  CONSTRAINT schema_versions_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT schema_versions_pkey PRIMARY KEY (home)
){{locality}};
