-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS reactions_by_created ON reactions (home, reference_id, created_at, id);
