-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS stories_due ON stories (home, expires_at, id);
