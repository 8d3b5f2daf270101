-- +goose NO TRANSACTION
-- +goose Up
-- The type of the channel, which never changes.
ALTER TABLE message_feeds ADD COLUMN IF NOT EXISTS channel_type TEXT NOT NULL DEFAULT '';
