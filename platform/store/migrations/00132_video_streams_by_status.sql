-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS video_streams_by_status ON video_streams (home, status, created_at, id) WHERE deleted_at IS NULL;
