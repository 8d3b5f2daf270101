-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS scheduled_posts_by_created ON scheduled_posts (home, is_posted, created_at, id);
