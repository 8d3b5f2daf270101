-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS scheduled_posts_of_author_by_created ON scheduled_posts (home, author_id, is_posted, created_at, id);
