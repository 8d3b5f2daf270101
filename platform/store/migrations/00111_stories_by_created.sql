-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS stories_by_created ON stories (home, target_id, created_at, id) WHERE deleted_at IS NULL;
