-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS posts_by_structure_updated ON posts (home, target_id, feed_type, structure_type, updated_at, id) WHERE is_parent;
