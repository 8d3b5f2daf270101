-- +goose NO TRANSACTION
-- +goose Up
-- When flags hid the message; NULL if it is visible.
ALTER TABLE messages ADD COLUMN IF NOT EXISTS hidden_at TIMESTAMPTZ;
