-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS user_feed_markers_by_entity ON user_feed_markers (home, user_id, entity_id);
