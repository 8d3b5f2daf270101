-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS flag_items_by_place ON flag_items (home, place_id, state, opened_at, target_id);
