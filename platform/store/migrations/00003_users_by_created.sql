-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS users_by_created ON users (home, created_at, id);
