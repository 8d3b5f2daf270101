-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS follows_by_created ON follows (home, follower_id, status, created_at, followee_id);
