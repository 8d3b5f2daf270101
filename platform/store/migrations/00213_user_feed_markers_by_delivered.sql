-- +goose NO TRANSACTION
-- +goose Up
-- How many have read a message, and how many got it: who has read it got it. Those who left the channel do not count.
CREATE INDEX IF NOT EXISTS user_feed_markers_by_delivered ON user_feed_markers (home, feed_id, delivered_to, read_to, user_id) WHERE NOT is_deleted;
