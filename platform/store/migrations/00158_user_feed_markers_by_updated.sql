-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS user_feed_markers_by_updated ON user_feed_markers (home, user_id, updated_at, feed_id);
