-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS comments (
  home                TEXT        NOT NULL,
  id                  TEXT        NOT NULL,
  reference_type      TEXT        NOT NULL,
  reference_id        TEXT        NOT NULL,
  target_type         TEXT        NOT NULL,
  target_id           TEXT        NOT NULL,
  target_public_id    TEXT        NOT NULL,
  parent_id           TEXT        NOT NULL DEFAULT '',
  root_id             TEXT        NOT NULL,
  author_id           TEXT        NOT NULL,
  author_public_id    TEXT        NOT NULL,
  data_types          TEXT[]      NOT NULL DEFAULT '{}',
  data                JSONB       NOT NULL DEFAULT '{}',
  metadata            JSONB       NOT NULL DEFAULT '{}',
  mentionees          JSONB       NOT NULL DEFAULT '[]',
  attachments         JSONB       NOT NULL DEFAULT '[]',
  segment             BIGINT      NOT NULL,
  approval_status     TEXT        NOT NULL,
  flaggers            TEXT[]      NOT NULL DEFAULT '{}',
  flag_count          BIGINT      NOT NULL DEFAULT 0,
  created_at          TIMESTAMPTZ NOT NULL,
  updated_at          TIMESTAMPTZ NOT NULL,
  edited_at           TIMESTAMPTZ NOT NULL,
  deleted_at          TIMESTAMPTZ,
  emptied_at          TIMESTAMPTZ,
  -- The links and products in the text, as a JSON object.
  annotations         JSONB       NOT NULL DEFAULT '{}',
  is_flagged          BOOLEAN     NOT NULL GENERATED ALWAYS AS (flag_count > 0) STORED,
  has_deleted_content BOOLEAN     NOT NULL GENERATED ALWAYS AS (deleted_at IS NOT NULL AND emptied_at IS NULL) STORED{{region}},
  CONSTRAINT comments_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT comments_reference_type_check CHECK (reference_type IN ('post', 'content', 'story')),
  CONSTRAINT comments_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS comments_by_created ON comments (home, reference_id, parent_id, created_at, id);
CREATE INDEX IF NOT EXISTS comments_by_updated ON comments (home, reference_id, parent_id, updated_at, id);
CREATE INDEX IF NOT EXISTS comments_all_by_created ON comments (home, reference_id, created_at, id);
CREATE INDEX IF NOT EXISTS comments_all_by_updated ON comments (home, reference_id, updated_at, id);
CREATE INDEX IF NOT EXISTS comments_flagged_by_created ON comments (home, reference_id, is_flagged, created_at, id);
CREATE INDEX IF NOT EXISTS comments_flagged_by_updated ON comments (home, reference_id, is_flagged, updated_at, id);
-- The latest comments that posts, stories and comments carry are approved ones: however many wait, none of them is read for it.
CREATE INDEX IF NOT EXISTS comments_by_parent_and_status ON comments (home, reference_id, parent_id, approval_status, created_at, id);
CREATE INDEX IF NOT EXISTS comments_by_status_created ON comments (home, reference_id, approval_status, created_at, id);
CREATE INDEX IF NOT EXISTS comments_by_status_updated ON comments (home, reference_id, approval_status, updated_at, id);
CREATE INDEX IF NOT EXISTS comments_by_author ON comments (home, reference_id, author_id, approval_status, created_at, id);
CREATE INDEX IF NOT EXISTS comments_deleted ON comments (home, has_deleted_content, deleted_at, id);
