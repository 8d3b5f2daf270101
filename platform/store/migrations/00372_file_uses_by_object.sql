-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS file_uses_by_object ON file_uses (home, object_id, kind, file_id);
