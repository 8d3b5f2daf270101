-- +goose NO TRANSACTION
-- +goose Up
-- A story, at the home of its target: the community, or the author whose wall it is on.
CREATE TABLE IF NOT EXISTS stories (
  home                TEXT        NOT NULL,
  id                  TEXT        NOT NULL,
  target_type         TEXT        NOT NULL,
  target_id           TEXT        NOT NULL,
  target_public_id    TEXT        NOT NULL,
  author_id           TEXT        NOT NULL,
  author_public_id    TEXT        NOT NULL,
  reference_id        TEXT        NOT NULL DEFAULT '',
  data_type           TEXT        NOT NULL,
  data                JSONB       NOT NULL,
  items               JSONB       NOT NULL,
  metadata            JSONB       NOT NULL,
  mentionees          JSONB       NOT NULL,
  flaggers            TEXT[]      NOT NULL DEFAULT '{}',
  flag_count          BIGINT      NOT NULL DEFAULT 0,
  has_flagged_comment BOOLEAN     NOT NULL DEFAULT false,
  created_at          TIMESTAMPTZ NOT NULL,
  updated_at          TIMESTAMPTZ NOT NULL,
  expires_at          TIMESTAMPTZ NOT NULL,
  deleted_at          TIMESTAMPTZ,
  -- When flags hid the story; NULL if it is visible.
  hidden_at           TIMESTAMPTZ,
  is_deleted          BOOLEAN     NOT NULL GENERATED ALWAYS AS (deleted_at IS NOT NULL) STORED{{region}},
  CONSTRAINT stories_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT stories_target_type_check CHECK (target_type IN ('community', 'user')),
  CONSTRAINT stories_data_type_check CHECK (data_type IN ('text', 'image', 'video')),
  CONSTRAINT stories_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS stories_by_created ON stories (home, is_deleted, target_id, created_at, id);
CREATE INDEX IF NOT EXISTS stories_by_expiry ON stories (home, is_deleted, target_id, expires_at);
CREATE INDEX IF NOT EXISTS stories_due ON stories (home, expires_at, id);
CREATE INDEX IF NOT EXISTS stories_deleted ON stories (home, deleted_at, id);
