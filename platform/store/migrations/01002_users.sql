-- +goose NO TRANSACTION
-- +goose Up
-- name_key and handle_key hold the first three letters only: bytes of index keys may leave the region, names must not.
-- flaggers are the users who flag this one, recomputed from the rows of flags whenever they change, as on posts and
-- comments. handle_claim is the claim in handles with which the user holds profile_handle; 'duplicate' if another user
-- held it first.
CREATE TABLE IF NOT EXISTS users (
  home                TEXT        NOT NULL,
  id                  TEXT        NOT NULL,
  public_id           TEXT        NOT NULL,
  display_name        TEXT        NOT NULL,
  name_key            TEXT        NOT NULL,
  profile_handle      TEXT        NOT NULL DEFAULT '',
  handle_key          TEXT        NOT NULL DEFAULT '',
  description         TEXT        NOT NULL DEFAULT '',
  avatar_file_id      TEXT        NOT NULL DEFAULT '',
  avatar_custom_url   TEXT        NOT NULL DEFAULT '',
  roles               TEXT[]      NOT NULL DEFAULT '{}',
  metadata            JSONB       NOT NULL DEFAULT '{}',
  flag_count          BIGINT      NOT NULL DEFAULT 0,
  is_global_ban       BOOLEAN     NOT NULL DEFAULT false,
  is_brand            BOOLEAN     NOT NULL DEFAULT false,
  created_at          TIMESTAMPTZ NOT NULL,
  updated_at          TIMESTAMPTZ NOT NULL,
  deleted_at          TIMESTAMPTZ,
  flaggers            TEXT[]      NOT NULL DEFAULT '{}',
  handle_claim        TEXT        NOT NULL DEFAULT '',
  -- Whether the user hides that they are online and what they watch.
  is_presence_hidden  BOOLEAN     NOT NULL DEFAULT false,
  -- When is_presence_hidden last changed; null if it never did.
  presence_changed_at TIMESTAMPTZ,
  is_flagged          BOOLEAN     NOT NULL GENERATED ALWAYS AS (flag_count > 0) STORED,
  is_handle_unclaimed BOOLEAN     NOT NULL GENERATED ALWAYS AS (profile_handle <> '' AND handle_claim = '') STORED{{region}},
  CONSTRAINT users_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT users_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS users_by_created ON users (home, created_at, id);
CREATE INDEX IF NOT EXISTS users_by_name ON users (home, name_key, id);
CREATE INDEX IF NOT EXISTS users_flagged ON users (home, is_flagged, created_at, id);
CREATE INDEX IF NOT EXISTS users_by_handle ON users (home, handle_key, id);
CREATE INDEX IF NOT EXISTS users_unclaimed_handles ON users (home, is_handle_unclaimed, created_at, id);
