-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS categories_by_name ON categories (home, name_key, id);
