-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS posts_deleted ON posts (home, deleted_at, id) WHERE deleted_at IS NOT NULL;
