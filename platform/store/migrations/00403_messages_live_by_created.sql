-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS messages_live_by_created ON messages (home, feed_id, created_at, id) WHERE deleted_at IS NULL;
