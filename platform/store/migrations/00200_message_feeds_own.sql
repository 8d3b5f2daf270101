-- +goose NO TRANSACTION
-- +goose Up
-- Whether the feed is a subchannel, whose messages are rows of messages. Of the others an outside message store tells by PushSegment; the
-- columns that follow are empty there.
ALTER TABLE message_feeds ADD COLUMN IF NOT EXISTS is_own BOOL NOT NULL DEFAULT false;
