-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS scheduled_posts_due ON scheduled_posts (home, lane, status, due_at, id);
