-- +goose NO TRANSACTION
-- +goose Up
-- Whether a stream has a live channel. It has the stream's id.
ALTER TABLE video_streams ADD COLUMN IF NOT EXISTS has_channel BOOL NOT NULL DEFAULT false;
