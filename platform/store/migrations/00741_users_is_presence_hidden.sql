-- +goose NO TRANSACTION
-- +goose Up
-- Whether the user hides that they are online and what they watch.
ALTER TABLE users ADD COLUMN IF NOT EXISTS is_presence_hidden BOOLEAN NOT NULL DEFAULT false;
