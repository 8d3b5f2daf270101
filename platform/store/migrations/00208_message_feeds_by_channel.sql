-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS message_feeds_by_channel ON message_feeds (home, entity_id, last_message_at, id) WHERE is_own;
