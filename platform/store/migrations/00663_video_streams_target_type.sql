-- +goose NO TRANSACTION
-- +goose Up
-- Where the post of the stream is: community, user or content; empty without a post.
ALTER TABLE video_streams ADD COLUMN IF NOT EXISTS target_type TEXT NOT NULL DEFAULT '';
