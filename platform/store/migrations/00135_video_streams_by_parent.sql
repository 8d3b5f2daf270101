-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS video_streams_by_parent ON video_streams (home, parent_id) WHERE parent_id <> '';
