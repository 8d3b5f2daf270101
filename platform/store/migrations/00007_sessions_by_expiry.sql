-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS sessions_by_expiry ON sessions (home, expires_at);
