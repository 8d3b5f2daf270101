-- +goose NO TRANSACTION
-- +goose Up
-- When flags hid the story; NULL if it is visible.
ALTER TABLE stories ADD COLUMN IF NOT EXISTS hidden_at TIMESTAMPTZ;
