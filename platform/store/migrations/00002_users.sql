-- +goose NO TRANSACTION
-- +goose Up
-- name_key and handle_key hold the first three letters only: bytes of index keys may leave the region, names must not.
CREATE TABLE IF NOT EXISTS users (
  home              TEXT        NOT NULL,
  id                TEXT        NOT NULL,
  public_id         TEXT        NOT NULL,
  display_name      TEXT        NOT NULL,
  name_key          TEXT        NOT NULL,
  profile_handle    TEXT        NOT NULL DEFAULT '',
  handle_key        TEXT        NOT NULL DEFAULT '',
  description       TEXT        NOT NULL DEFAULT '',
  avatar_file_id    TEXT        NOT NULL DEFAULT '',
  avatar_custom_url TEXT        NOT NULL DEFAULT '',
  roles             TEXT[]      NOT NULL DEFAULT '{}',
  metadata          JSONB       NOT NULL DEFAULT '{}',
  flag_count        BIGINT      NOT NULL DEFAULT 0,
  is_global_ban     BOOLEAN     NOT NULL DEFAULT false,
  is_brand          BOOLEAN     NOT NULL DEFAULT false,
  created_at        TIMESTAMPTZ NOT NULL,
  updated_at        TIMESTAMPTZ NOT NULL,
  deleted_at        TIMESTAMPTZ{{region}},
  CONSTRAINT users_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT users_pkey PRIMARY KEY (home, id)
){{locality}};
