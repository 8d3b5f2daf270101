-- +goose NO TRANSACTION
-- +goose Up
-- The streams that end when their creator is banned.
CREATE INDEX IF NOT EXISTS video_streams_open_by_creator ON video_streams (home, creator_id, post_id)
  WHERE deleted_at IS NULL AND status IN ('idle', 'live');
