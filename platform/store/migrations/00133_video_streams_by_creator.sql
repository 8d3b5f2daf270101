-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS video_streams_by_creator ON video_streams (home, creator_id, created_at, id) WHERE deleted_at IS NULL;
