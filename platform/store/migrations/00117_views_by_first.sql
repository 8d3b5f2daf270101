-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS views_by_first ON views (home, reference_id, first_at, user_id);
