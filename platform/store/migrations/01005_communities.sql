-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS communities (
  home                TEXT        NOT NULL,
  id                  TEXT        NOT NULL,
  display_name        TEXT        NOT NULL,
  name_key            TEXT        NOT NULL,
  creator_id          TEXT        NOT NULL,
  creator_public_id   TEXT        NOT NULL,
  description         TEXT        NOT NULL DEFAULT '',
  avatar_file_id      TEXT        NOT NULL DEFAULT '',
  is_official         BOOLEAN     NOT NULL,
  is_public           BOOLEAN     NOT NULL,
  is_discoverable     BOOLEAN     NOT NULL,
  only_admin_can_post BOOLEAN     NOT NULL,
  post_approval       BOOLEAN     NOT NULL,
  comment_approval    BOOLEAN     NOT NULL,
  join_approval       BOOLEAN     NOT NULL,
  story_comments      BOOLEAN     NOT NULL,
  notification_mode   TEXT        NOT NULL,
  type                TEXT        NOT NULL,
  tags                TEXT[]      NOT NULL DEFAULT '{}',
  metadata            JSONB       NOT NULL DEFAULT '{}',
  category_ids        TEXT[]      NOT NULL DEFAULT '{}',
  has_flagged_post    BOOLEAN     NOT NULL DEFAULT false,
  has_flagged_comment BOOLEAN     NOT NULL DEFAULT false,
  created_at          TIMESTAMPTZ NOT NULL,
  updated_at          TIMESTAMPTZ NOT NULL,
  deleted_at          TIMESTAMPTZ,
  is_flagged          BOOLEAN     NOT NULL GENERATED ALWAYS AS (has_flagged_post OR has_flagged_comment) STORED{{region}},
  CONSTRAINT communities_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT communities_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS communities_by_created ON communities (home, created_at, id);
CREATE INDEX IF NOT EXISTS communities_by_name ON communities (home, name_key, id);
CREATE INDEX IF NOT EXISTS communities_flagged ON communities (home, is_flagged, created_at, id);
