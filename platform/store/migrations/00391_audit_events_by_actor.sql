-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS audit_events_by_actor ON audit_events (home, actor, at, id);
