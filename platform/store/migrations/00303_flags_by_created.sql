-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS flags_by_created ON flags (home, created_at, id);
