-- +goose NO TRANSACTION
-- +goose Up
-- A chat channel, at the home that its id names: its subchannels, messages and users stand there too. public_id is the id that
-- the client chose, or the id itself. is_public is whether everybody finds and may join it. muted_until is in the future for as long
-- as only moderators write. name_key is the beginning of the name that lists are ordered by: three letters for a private one.
CREATE TABLE IF NOT EXISTS channels (
  home                TEXT        NOT NULL,
  id                  TEXT        NOT NULL,
  public_id           TEXT        NOT NULL,
  type                TEXT        NOT NULL,
  creator_id          TEXT        NOT NULL,
  creator_public_id   TEXT        NOT NULL,
  display_name        TEXT        NOT NULL,
  name_key            TEXT        NOT NULL,
  avatar_file_id      TEXT        NOT NULL,
  is_distinct         BOOL        NOT NULL,
  is_public           BOOL        NOT NULL,
  tags                TEXT[]      NOT NULL DEFAULT '{}',
  metadata            JSONB       NOT NULL DEFAULT '{}',
  notification_mode   TEXT        NOT NULL,
  auto_delete_enabled BOOL        NOT NULL,
  auto_delete_flags   BIGINT      NOT NULL,
  muted_until         TIMESTAMPTZ,
  post_id             TEXT        NOT NULL,
  video_stream_id     TEXT        NOT NULL,
  room_id             TEXT        NOT NULL,
  last_activity       TIMESTAMPTZ NOT NULL,
  created_at          TIMESTAMPTZ NOT NULL,
  updated_at          TIMESTAMPTZ NOT NULL,
  deleted_at          TIMESTAMPTZ,
  deleted_by          TEXT        NOT NULL DEFAULT ''{{region}},
  CONSTRAINT channels_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT channels_type_check CHECK (type IN ('community', 'broadcast', 'conversation', 'live')),
  CONSTRAINT channels_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS channels_by_activity ON channels (home, is_public, last_activity, id);
CREATE INDEX IF NOT EXISTS channels_by_created ON channels (home, is_public, created_at, id);
CREATE INDEX IF NOT EXISTS channels_by_name ON channels (home, is_public, name_key, id);
