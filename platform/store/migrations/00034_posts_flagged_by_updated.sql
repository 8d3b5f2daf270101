-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS posts_flagged_by_updated ON posts (home, target_id, feed_type, updated_at, id) WHERE is_flagged;
