-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS posts_flagged_by_created ON posts (home, target_id, feed_type, created_at, id) WHERE is_flagged;
