-- +goose NO TRANSACTION
-- +goose Up
-- The id of a flag, which lists continue after. Earlier flags share one.
ALTER TABLE flags ADD COLUMN IF NOT EXISTS id TEXT NOT NULL DEFAULT '010000000000000000000000';
