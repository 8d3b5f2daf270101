-- +goose NO TRANSACTION
-- +goose Up
-- Where a message feed stands: the segment of its last message. It lives where its id says.
-- is_own: the feed is a subchannel, whose messages are rows of messages. The segments of other feeds are those of an
-- outside message store (PushSegment), and the columns after is_own are empty. entity_id and channel_public_id are the
-- ids of the channel; channel_type never changes; creator_id is empty for an administrator. last_message_at is the time of
-- the last message, or of the subchannel's creation before the first one; edited_at is when it was last renamed.
CREATE TABLE IF NOT EXISTS message_feeds (
  home              TEXT        NOT NULL,
  id                TEXT        NOT NULL,
  entity_id         TEXT        NOT NULL,
  last_segment      BIGINT      NOT NULL,
  created_at        TIMESTAMPTZ NOT NULL,
  updated_at        TIMESTAMPTZ NOT NULL,
  deleted_at        TIMESTAMPTZ,
  is_own            BOOL        NOT NULL DEFAULT false,
  name              TEXT        NOT NULL DEFAULT '',
  channel_public_id TEXT        NOT NULL DEFAULT '',
  channel_type      TEXT        NOT NULL DEFAULT '',
  creator_id        TEXT        NOT NULL DEFAULT '',
  creator_public_id TEXT        NOT NULL DEFAULT '',
  last_message_at   TIMESTAMPTZ NOT NULL DEFAULT '1970-01-01 00:00:00+00:00',
  edited_at         TIMESTAMPTZ NOT NULL DEFAULT '1970-01-01 00:00:00+00:00'{{region}},
  CONSTRAINT message_feeds_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT message_feeds_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS message_feeds_by_channel ON message_feeds (home, is_own, entity_id, last_message_at, id);
-- For collecting the ids that move with a user.
CREATE INDEX IF NOT EXISTS message_feeds_by_entity ON message_feeds (home, entity_id, id);
