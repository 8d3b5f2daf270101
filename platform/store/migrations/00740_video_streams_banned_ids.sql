-- +goose NO TRANSACTION
-- +goose Up
-- The internal ids of the viewers who are banned from the stream.
ALTER TABLE video_streams ADD COLUMN IF NOT EXISTS banned_ids TEXT[] NOT NULL DEFAULT '{}';
