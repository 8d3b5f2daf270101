-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS communities_flagged ON communities (home, created_at, id) WHERE is_flagged;
