-- +goose NO TRANSACTION
-- +goose Up
-- The public id of the channel; the internal one is entity_id.
ALTER TABLE message_feeds ADD COLUMN IF NOT EXISTS channel_public_id TEXT NOT NULL DEFAULT '';
