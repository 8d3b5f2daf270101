-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS audit_events_by_operation ON audit_events (home, operation, at, id);
