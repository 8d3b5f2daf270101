-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS reactions_by_name ON reactions (home, reference_id, name, created_at, id);
