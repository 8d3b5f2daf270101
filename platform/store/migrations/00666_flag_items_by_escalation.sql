-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS flag_items_by_escalation ON flag_items (home, state, escalated_at, target_id);
