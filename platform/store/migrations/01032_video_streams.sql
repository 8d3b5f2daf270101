-- +goose NO TRANSACTION
-- +goose Up
-- A live stream, at the home of its creator. playback_key is in the addresses to watch it at, ingest_key in the one to send it
-- to. post_id is the post that carries it, empty before there is one; child_ids are the streams whose parent_id it is.
-- has_channel: the stream has a live channel, with the stream's id.
CREATE TABLE IF NOT EXISTS video_streams (
  home              TEXT        NOT NULL,
  id                TEXT        NOT NULL,
  creator_id        TEXT        NOT NULL,
  creator_public_id TEXT        NOT NULL,
  title             TEXT        NOT NULL,
  description       TEXT        NOT NULL,
  thumbnail_file_id TEXT        NOT NULL,
  status            TEXT        NOT NULL,
  resolution        TEXT        NOT NULL,
  is_secure         BOOL        NOT NULL,
  channel_enabled   BOOL        NOT NULL,
  metadata          JSONB       NOT NULL,
  platform_name     TEXT        NOT NULL,
  platform_version  TEXT        NOT NULL,
  playback_key      TEXT        NOT NULL,
  ingest_key        TEXT        NOT NULL,
  post_id           TEXT        NOT NULL DEFAULT '',
  parent_id         TEXT        NOT NULL,
  child_ids         TEXT[]      NOT NULL DEFAULT '{}',
  recordings        JSONB       NOT NULL DEFAULT '[]',
  moderation        JSONB       NOT NULL DEFAULT '{}',
  started_at        TIMESTAMPTZ,
  ended_at          TIMESTAMPTZ,
  created_at        TIMESTAMPTZ NOT NULL,
  updated_at        TIMESTAMPTZ NOT NULL,
  deleted_at        TIMESTAMPTZ,
  has_channel       BOOL        NOT NULL DEFAULT false,
  -- Where the post of the stream is: community, user or content; empty without a post.
  target_type       TEXT        NOT NULL DEFAULT '',
  -- The community's id or the wall owner's public id; empty without a post.
  target_public_id  TEXT        NOT NULL DEFAULT '',
  -- The internal ids of the viewers who are banned from the stream.
  banned_ids        TEXT[]      NOT NULL DEFAULT '{}',
  is_deleted        BOOLEAN     NOT NULL GENERATED ALWAYS AS (deleted_at IS NOT NULL) STORED,
  is_open           BOOLEAN     NOT NULL GENERATED ALWAYS AS (deleted_at IS NULL AND status IN ('idle', 'live')) STORED{{region}},
  CONSTRAINT video_streams_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT video_streams_status_check CHECK (status IN ('idle', 'live', 'ended', 'recorded', 'error')),
  CONSTRAINT video_streams_resolution_check CHECK (resolution IN ('SD', 'HD', 'FHD')),
  CONSTRAINT video_streams_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS video_streams_by_status ON video_streams (home, is_deleted, status, created_at, id);
CREATE INDEX IF NOT EXISTS video_streams_by_creator ON video_streams (home, is_deleted, creator_id, created_at, id);
CREATE INDEX IF NOT EXISTS video_streams_by_parent ON video_streams (home, parent_id);
-- The streams that end when their creator is banned.
CREATE INDEX IF NOT EXISTS video_streams_open_by_creator ON video_streams (home, is_open, creator_id, post_id);
-- For collecting the ids that move with a user.
CREATE INDEX IF NOT EXISTS video_streams_of_creator ON video_streams (home, creator_id, id);
