-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS posts_by_created ON posts (home, target_id, feed_type, is_parent, created_at, id);
