-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS messages_flagged ON messages (home, feed_id, segment) WHERE flag_count > 0;
