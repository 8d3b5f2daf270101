-- +goose NO TRANSACTION
-- +goose Up
-- The name of a subchannel.
ALTER TABLE message_feeds ADD COLUMN IF NOT EXISTS name TEXT NOT NULL DEFAULT '';
