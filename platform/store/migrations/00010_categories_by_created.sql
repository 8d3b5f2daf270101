-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS categories_by_created ON categories (home, created_at, id);
