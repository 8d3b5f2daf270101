-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS users_flagged ON users (home, created_at, id) WHERE flag_count > 0;
