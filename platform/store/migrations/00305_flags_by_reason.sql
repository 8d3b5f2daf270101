-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS flags_by_reason ON flags (home, reason, created_at, id);
