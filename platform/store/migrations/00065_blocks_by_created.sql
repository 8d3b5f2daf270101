-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS blocks_by_created ON blocks (home, blocker_id, status, created_at, blocked_id);
