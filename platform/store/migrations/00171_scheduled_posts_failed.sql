-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS scheduled_posts_failed ON scheduled_posts (home, lane, scheduled_at, id) WHERE status = 'WAIT' AND attempts > 0;
