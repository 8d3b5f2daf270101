-- +goose NO TRANSACTION
-- +goose Up
-- A live room, at the home of its host. playback_key is in the address to watch it at; the keys to send to it stand with its
-- participants. post_id and the target_… columns are those of the post that carries it, empty before there is one.
-- has_channel: the room has a live channel, with the room's id.
CREATE TABLE IF NOT EXISTS rooms (
  home              TEXT        NOT NULL,
  id                TEXT        NOT NULL,
  creator_id        TEXT        NOT NULL,
  creator_public_id TEXT        NOT NULL,
  type              TEXT        NOT NULL,
  title             TEXT        NOT NULL,
  description       TEXT        NOT NULL,
  thumbnail_file_id TEXT        NOT NULL,
  status            TEXT        NOT NULL,
  live_chat_enabled BOOL        NOT NULL,
  metadata          JSONB       NOT NULL,
  participants      JSONB       NOT NULL,
  playback_key      TEXT        NOT NULL,
  post_id           TEXT        NOT NULL DEFAULT '',
  target_type       TEXT        NOT NULL DEFAULT '',
  target_id         TEXT        NOT NULL DEFAULT '',
  target_public_id  TEXT        NOT NULL DEFAULT '',
  parent_id         TEXT        NOT NULL,
  child_ids         TEXT[]      NOT NULL DEFAULT '{}',
  recordings        JSONB       NOT NULL DEFAULT '[]',
  moderation        JSONB       NOT NULL DEFAULT '{}',
  live_at           TIMESTAMPTZ,
  ended_at          TIMESTAMPTZ,
  recorded_at       TIMESTAMPTZ,
  created_at        TIMESTAMPTZ NOT NULL,
  updated_at        TIMESTAMPTZ NOT NULL,
  deleted_at        TIMESTAMPTZ,
  deleted_by        TEXT        NOT NULL DEFAULT '',
  has_channel       BOOL        NOT NULL DEFAULT false,
  -- The internal ids of the participants who send to the room.
  on_stage_ids      TEXT[]      NOT NULL DEFAULT '{}',
  is_deleted        BOOLEAN     NOT NULL GENERATED ALWAYS AS (deleted_at IS NOT NULL) STORED,
  is_open           BOOLEAN     NOT NULL GENERATED ALWAYS AS (deleted_at IS NULL AND status IN ('idle', 'live', 'waitingReconnect')) STORED{{region}},
  CONSTRAINT rooms_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT rooms_type_check CHECK (type IN ('directStreaming', 'coHosts')),
  CONSTRAINT rooms_status_check CHECK (status IN ('idle', 'live', 'waitingReconnect', 'ended', 'recorded', 'terminated', 'error')),
  CONSTRAINT rooms_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS rooms_by_status ON rooms (home, is_deleted, type, status, created_at, id);
CREATE INDEX IF NOT EXISTS rooms_live_by_target ON rooms (home, is_deleted, status, target_id, created_at, id);
CREATE INDEX IF NOT EXISTS rooms_by_parent ON rooms (home, parent_id);
CREATE INDEX IF NOT EXISTS rooms_live_by_target_type ON rooms (home, is_deleted, status, target_type, created_at, id);
-- The rooms that end when their creator is banned.
CREATE INDEX IF NOT EXISTS rooms_open_by_creator ON rooms (home, is_open, creator_id, id);
-- For collecting the ids that move with a user.
CREATE INDEX IF NOT EXISTS rooms_of_creator ON rooms (home, creator_id, id);
