-- +goose NO TRANSACTION
-- +goose Up
-- For collecting the ids that move with a user.
CREATE INDEX IF NOT EXISTS message_feeds_by_entity ON message_feeds (home, entity_id, id);
