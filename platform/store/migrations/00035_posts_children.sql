-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS posts_children ON posts (home, parent_id, created_at, id) WHERE NOT is_parent;
