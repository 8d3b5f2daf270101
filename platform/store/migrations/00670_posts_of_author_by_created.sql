-- +goose NO TRANSACTION
-- +goose Up
-- For the lists of what a user has posted in communities.
CREATE INDEX IF NOT EXISTS posts_of_author_by_created ON posts (home, author_id, target_type, created_at, id);
