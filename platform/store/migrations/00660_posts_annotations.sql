-- +goose NO TRANSACTION
-- +goose Up
-- The links and products in the text, as a JSON object.
ALTER TABLE posts ADD COLUMN IF NOT EXISTS annotations JSONB NOT NULL DEFAULT '{}';
