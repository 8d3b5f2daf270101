-- +goose NO TRANSACTION
-- +goose Up
-- Since when nothing refers to the file; nothing may begin to refer to it while this is set.
ALTER TABLE files ADD COLUMN IF NOT EXISTS unused_since TIMESTAMPTZ;
