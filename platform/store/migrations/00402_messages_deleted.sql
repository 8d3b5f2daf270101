-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS messages_deleted ON messages (home, deleted_at, id) WHERE deleted_at IS NOT NULL AND emptied_at IS NULL;
