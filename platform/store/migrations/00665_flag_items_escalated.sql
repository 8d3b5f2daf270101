-- +goose NO TRANSACTION
-- +goose Up
-- When as many users had flagged the user as hide content; NULL before, and for other objects.
ALTER TABLE flag_items ADD COLUMN IF NOT EXISTS escalated_at TIMESTAMPTZ;
