-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS posts_by_structure_created ON posts (home, target_id, feed_type, structure_type, created_at, id) WHERE is_parent;
