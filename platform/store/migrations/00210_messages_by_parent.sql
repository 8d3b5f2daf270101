-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS messages_by_parent ON messages (home, feed_id, parent_id, segment);
