-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS posts_of_author_by_updated ON posts (home, author_id, target_type, updated_at, id);
