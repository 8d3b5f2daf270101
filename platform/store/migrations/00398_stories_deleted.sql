-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS stories_deleted ON stories (home, deleted_at, id) WHERE deleted_at IS NOT NULL;
