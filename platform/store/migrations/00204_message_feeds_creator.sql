-- +goose NO TRANSACTION
-- +goose Up
-- The internal id of who made the subchannel; empty for an administrator.
ALTER TABLE message_feeds ADD COLUMN IF NOT EXISTS creator_id TEXT NOT NULL DEFAULT '';
