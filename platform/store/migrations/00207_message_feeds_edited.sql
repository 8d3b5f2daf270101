-- +goose NO TRANSACTION
-- +goose Up
-- When the subchannel was last renamed.
ALTER TABLE message_feeds ADD COLUMN IF NOT EXISTS edited_at TIMESTAMPTZ NOT NULL DEFAULT '1970-01-01 00:00:00+00:00';
