-- +goose NO TRANSACTION
-- +goose Up
-- How far a user has read a message feed, at the user's home. last_segment and is_deleted are the feed's, as the outbox of
-- its home told. What is unread follows from the row and is written nowhere.
CREATE TABLE IF NOT EXISTS user_feed_markers (
  home          TEXT        NOT NULL,
  user_id       TEXT        NOT NULL,
  feed_id       TEXT        NOT NULL,
  entity_id     TEXT        NOT NULL,
  last_segment  BIGINT      NOT NULL,
  read_to       BIGINT      NOT NULL,
  delivered_to  BIGINT      NOT NULL,
  last_mention  BIGINT      NOT NULL,
  reading_until TIMESTAMPTZ,
  is_deleted    BOOLEAN     NOT NULL,
  created_at    TIMESTAMPTZ NOT NULL,
  updated_at    TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT user_feed_markers_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT user_feed_markers_pkey PRIMARY KEY (home, user_id, feed_id)
){{locality}};
CREATE INDEX IF NOT EXISTS user_feed_markers_by_entity ON user_feed_markers (home, user_id, entity_id);
CREATE INDEX IF NOT EXISTS user_feed_markers_by_updated ON user_feed_markers (home, user_id, updated_at, feed_id);
CREATE INDEX IF NOT EXISTS user_feed_markers_by_feed ON user_feed_markers (home, feed_id, user_id);
-- How many have read a message, and how many got it: who has read it got it. Those who left the channel do not count.
CREATE INDEX IF NOT EXISTS user_feed_markers_by_delivered ON user_feed_markers (home, is_deleted, feed_id, delivered_to, read_to, user_id);
