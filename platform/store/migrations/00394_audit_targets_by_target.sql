-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS audit_targets_by_target ON audit_targets (home, id, type, at, event_id);
