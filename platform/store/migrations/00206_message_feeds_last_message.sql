-- +goose NO TRANSACTION
-- +goose Up
-- When the last message was written; when the subchannel was made, before the first one.
ALTER TABLE message_feeds ADD COLUMN IF NOT EXISTS last_message_at TIMESTAMPTZ NOT NULL DEFAULT '1970-01-01 00:00:00+00:00';
