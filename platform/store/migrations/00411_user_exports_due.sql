-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS user_exports_due ON user_exports (home, state, due_at, id);
