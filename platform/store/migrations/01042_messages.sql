-- +goose NO TRANSACTION
-- +goose Up
-- A message, at the home of its subchannel and channel. segment is its place in the subchannel: 1, 2, 3, without a gap, given by the
-- transaction that writes it. reference_id is what its author's device calls it, or the id itself: what is sent again is not stored
-- again. A client may call it anything, so that the key holds a hash of it. A deleted message keeps its row, and so its segment.
CREATE TABLE IF NOT EXISTS messages (
  home                TEXT        NOT NULL,
  id                  TEXT        NOT NULL,
  feed_id             TEXT        NOT NULL,
  channel_id          TEXT        NOT NULL,
  channel_public_id   TEXT        NOT NULL,
  channel_type        TEXT        NOT NULL,
  parent_id           TEXT        NOT NULL,
  creator_id          TEXT        NOT NULL,
  creator_public_id   TEXT        NOT NULL,
  reference_id        TEXT        NOT NULL,
  reference_hash      BYTEA       NOT NULL,
  segment             BIGINT      NOT NULL,
  data_type           TEXT        NOT NULL,
  data                JSONB       NOT NULL DEFAULT '{}',
  file_id             TEXT        NOT NULL,
  metadata            JSONB       NOT NULL DEFAULT '{}',
  tags                TEXT[]      NOT NULL DEFAULT '{}',
  mentions            JSONB       NOT NULL DEFAULT '[]',
  flaggers            TEXT[]      NOT NULL DEFAULT '{}',
  flag_count          BIGINT      NOT NULL DEFAULT 0,
  created_at          TIMESTAMPTZ NOT NULL,
  updated_at          TIMESTAMPTZ NOT NULL,
  edited_at           TIMESTAMPTZ NOT NULL,
  deleted_at          TIMESTAMPTZ,
  emptied_at          TIMESTAMPTZ,
  -- When flags hid the message; NULL if it is visible.
  hidden_at           TIMESTAMPTZ,
  is_flagged          BOOLEAN     NOT NULL GENERATED ALWAYS AS (flag_count > 0) STORED,
  is_deleted          BOOLEAN     NOT NULL GENERATED ALWAYS AS (deleted_at IS NOT NULL) STORED,
  has_deleted_content BOOLEAN     NOT NULL GENERATED ALWAYS AS (deleted_at IS NOT NULL AND emptied_at IS NULL) STORED{{region}},
  CONSTRAINT messages_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT messages_pkey PRIMARY KEY (home, id),
  CONSTRAINT messages_segment_key UNIQUE (home, feed_id, segment),
  CONSTRAINT messages_reference_key UNIQUE (home, feed_id, creator_id, reference_hash)
){{locality}};
CREATE INDEX IF NOT EXISTS messages_by_parent ON messages (home, feed_id, parent_id, segment);
CREATE INDEX IF NOT EXISTS messages_flagged ON messages (home, is_flagged, feed_id, segment);
-- What a member who joins at a time has read: the messages before it.
CREATE INDEX IF NOT EXISTS messages_by_created ON messages (home, feed_id, created_at, segment);
CREATE INDEX IF NOT EXISTS messages_deleted ON messages (home, has_deleted_content, deleted_at, id);
CREATE INDEX IF NOT EXISTS messages_live_by_created ON messages (home, is_deleted, feed_id, created_at, id);
