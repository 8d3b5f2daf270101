-- +goose NO TRANSACTION
-- +goose Up
-- The segment of a message in its feed, at the home of the feed.
CREATE TABLE IF NOT EXISTS message_feed_segments (
  home       TEXT        NOT NULL,
  feed_id    TEXT        NOT NULL,
  message_id TEXT        NOT NULL,
  segment    BIGINT      NOT NULL,
  creator_id TEXT        NOT NULL,
  created_at TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT message_feed_segments_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT message_feed_segments_pkey PRIMARY KEY (home, feed_id, message_id)
){{locality}};
