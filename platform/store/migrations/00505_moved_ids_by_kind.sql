-- +goose NO TRANSACTION
-- +goose Up
-- The ids whose comments and messages move.
CREATE INDEX IF NOT EXISTS moved_ids_by_kind ON moved_ids (home, user_id, kind, id);
