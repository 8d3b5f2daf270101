-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS communities_by_created ON communities (home, created_at, id);
