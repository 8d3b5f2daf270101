-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS followers_by_created ON followers (home, followee_id, status, created_at, follower_id);
