-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS rooms_deleted ON rooms (home, type, status, created_at, id) WHERE deleted_at IS NOT NULL;
