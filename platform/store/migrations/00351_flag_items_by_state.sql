-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS flag_items_by_state ON flag_items (home, state, opened_at, target_id);
