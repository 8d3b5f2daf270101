-- +goose NO TRANSACTION
-- +goose Up
-- What a member who joins at a time has read: the messages before it.
CREATE INDEX IF NOT EXISTS messages_by_created ON messages (home, feed_id, created_at, segment);
