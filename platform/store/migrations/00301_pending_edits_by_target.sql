-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS pending_edits_by_target ON pending_edits (home, target_id, created_at, reference_id);
