-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS video_streams_deleted ON video_streams (home, status, created_at, id) WHERE deleted_at IS NOT NULL;
