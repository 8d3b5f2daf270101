-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS flag_items_by_type ON flag_items (home, state, target_type, opened_at, target_id);
