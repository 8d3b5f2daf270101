-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS erasures_due ON erasures (home, state, due_at, id);
