-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS user_feed_markers_by_feed ON user_feed_markers (home, feed_id, user_id);
