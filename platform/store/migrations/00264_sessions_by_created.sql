-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS sessions_by_created ON sessions (home, user_id, created_at, id);
