-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS rooms_by_parent ON rooms (home, parent_id) WHERE parent_id <> '';
