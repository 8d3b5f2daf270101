-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS flags_by_type ON flags (home, target_type, created_at, id);
