-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS file_uses_by_place ON file_uses (home, place_id, file_id, object_id, kind);
