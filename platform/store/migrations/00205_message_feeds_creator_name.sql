-- +goose NO TRANSACTION
-- +goose Up
-- The public id of who made the subchannel.
ALTER TABLE message_feeds ADD COLUMN IF NOT EXISTS creator_public_id TEXT NOT NULL DEFAULT '';
