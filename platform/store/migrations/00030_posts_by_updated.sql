-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS posts_by_updated ON posts (home, target_id, feed_type, is_parent, updated_at, id);
