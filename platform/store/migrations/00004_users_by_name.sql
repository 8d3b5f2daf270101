-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS users_by_name ON users (home, name_key, id);
