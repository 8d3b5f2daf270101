-- +goose NO TRANSACTION
-- +goose Up
-- When is_presence_hidden last changed; null if it never did.
ALTER TABLE users ADD COLUMN IF NOT EXISTS presence_changed_at TIMESTAMPTZ;
