-- +goose NO TRANSACTION
-- +goose Up
-- For collecting the ids that move with a user.
CREATE INDEX IF NOT EXISTS video_streams_of_creator ON video_streams (home, creator_id, id);
