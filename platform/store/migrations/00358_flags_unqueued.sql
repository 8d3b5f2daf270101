-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS flags_unqueued ON flags (home, created_at, target_id) WHERE NOT is_queued;
