-- +goose NO TRANSACTION
-- +goose Up
-- flaggers repeats the flags' user ids and is recomputed whenever they change, never added to.
CREATE TABLE IF NOT EXISTS posts (
  home                 TEXT        NOT NULL,
  id                   TEXT        NOT NULL,
  target_type          TEXT        NOT NULL,
  target_id            TEXT        NOT NULL,
  target_public_id     TEXT        NOT NULL,
  author_id            TEXT        NOT NULL,
  author_public_id     TEXT        NOT NULL,
  parent_id            TEXT        NOT NULL DEFAULT '',
  is_parent            BOOLEAN     NOT NULL,
  children             TEXT[]      NOT NULL DEFAULT '{}',
  feed_type            TEXT        NOT NULL,
  data_type            TEXT        NOT NULL,
  structure_type       TEXT        NOT NULL,
  data                 JSONB       NOT NULL DEFAULT '{}',
  metadata             JSONB       NOT NULL DEFAULT '{}',
  tags                 TEXT[]      NOT NULL DEFAULT '{}',
  hashtags             TEXT[]      NOT NULL DEFAULT '{}',
  mentionees           JSONB       NOT NULL DEFAULT '[]',
  flaggers             TEXT[]      NOT NULL DEFAULT '{}',
  flag_count           BIGINT      NOT NULL DEFAULT 0,
  has_flagged_children BOOLEAN     NOT NULL DEFAULT false,
  has_flagged_comment  BOOLEAN     NOT NULL DEFAULT false,
  created_at           TIMESTAMPTZ NOT NULL,
  updated_at           TIMESTAMPTZ NOT NULL,
  edited_at            TIMESTAMPTZ NOT NULL,
  deleted_at           TIMESTAMPTZ,
  -- The links and products in the text, as a JSON object.
  annotations          JSONB       NOT NULL DEFAULT '{}',
  is_flagged           BOOLEAN     NOT NULL GENERATED ALWAYS AS (flag_count > 0 OR has_flagged_children OR has_flagged_comment) STORED,
  is_listed            BOOLEAN     NOT NULL GENERATED ALWAYS AS (is_parent AND feed_type = 'published' AND deleted_at IS NULL) STORED{{region}},
  CONSTRAINT posts_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT posts_feed_type_check CHECK (feed_type IN ('published', 'reviewing', 'declined')),
  CONSTRAINT posts_target_type_check CHECK (target_type IN ('community', 'user', 'content')),
  CONSTRAINT posts_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS posts_by_created ON posts (home, target_id, feed_type, is_parent, created_at, id);
CREATE INDEX IF NOT EXISTS posts_by_updated ON posts (home, target_id, feed_type, is_parent, updated_at, id);
CREATE INDEX IF NOT EXISTS posts_by_type_created ON posts (home, target_id, feed_type, data_type, created_at, id);
CREATE INDEX IF NOT EXISTS posts_by_type_updated ON posts (home, target_id, feed_type, data_type, updated_at, id);
CREATE INDEX IF NOT EXISTS posts_flagged_by_created ON posts (home, is_flagged, target_id, feed_type, created_at, id);
CREATE INDEX IF NOT EXISTS posts_flagged_by_updated ON posts (home, is_flagged, target_id, feed_type, updated_at, id);
CREATE INDEX IF NOT EXISTS posts_children ON posts (home, is_parent, parent_id, created_at, id);
CREATE INDEX IF NOT EXISTS posts_by_structure_created ON posts (home, is_parent, target_id, feed_type, structure_type, created_at, id);
CREATE INDEX IF NOT EXISTS posts_by_structure_updated ON posts (home, is_parent, target_id, feed_type, structure_type, updated_at, id);
-- Every post that feeds show, newest last, with what decides whether a feed shows it: one walk of this index finds a page
-- of a feed of thousands of accounts, where a look at each account would not.
CREATE INDEX IF NOT EXISTS posts_by_recency ON posts (home, is_listed, created_at, id, target_id, author_id, structure_type);
-- Posts on content stand under one target a home: what a client means is its own id of the content.
CREATE INDEX IF NOT EXISTS posts_on_content_by_created ON posts (home, target_type, target_public_id, created_at, id);
CREATE INDEX IF NOT EXISTS posts_on_content_by_updated ON posts (home, target_type, target_public_id, updated_at, id);
CREATE INDEX IF NOT EXISTS posts_deleted ON posts (home, deleted_at, id);
-- For the lists of what a user has posted in communities.
CREATE INDEX IF NOT EXISTS posts_of_author_by_created ON posts (home, author_id, target_type, created_at, id);
CREATE INDEX IF NOT EXISTS posts_of_author_by_updated ON posts (home, author_id, target_type, updated_at, id);
