-- +goose NO TRANSACTION
-- +goose Up
-- The community's id or the wall owner's public id; empty without a post.
ALTER TABLE video_streams ADD COLUMN IF NOT EXISTS target_public_id TEXT NOT NULL DEFAULT '';
