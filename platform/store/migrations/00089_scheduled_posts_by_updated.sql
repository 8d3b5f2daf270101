-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS scheduled_posts_by_updated ON scheduled_posts (home, is_posted, updated_at, id);
