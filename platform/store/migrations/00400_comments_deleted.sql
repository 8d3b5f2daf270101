-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS comments_deleted ON comments (home, deleted_at, id) WHERE deleted_at IS NOT NULL AND emptied_at IS NULL;
