-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS categories (
  home           TEXT        NOT NULL,
  id             TEXT        NOT NULL,
  name           TEXT        NOT NULL,
  name_key       TEXT        NOT NULL,
  metadata       JSONB       NOT NULL DEFAULT '{}',
  avatar_file_id TEXT        NOT NULL DEFAULT '',
  created_at     TIMESTAMPTZ NOT NULL,
  updated_at     TIMESTAMPTZ NOT NULL,
  deleted_at     TIMESTAMPTZ{{region}},
  CONSTRAINT categories_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT categories_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS categories_by_name ON categories (home, name_key, id);
CREATE INDEX IF NOT EXISTS categories_by_created ON categories (home, created_at, id);
