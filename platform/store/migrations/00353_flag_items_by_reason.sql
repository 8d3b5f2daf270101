-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS flag_items_by_reason ON flag_items (home, state, reason, opened_at, target_id);
