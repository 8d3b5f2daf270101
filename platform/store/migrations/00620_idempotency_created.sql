-- +goose NO TRANSACTION
-- +goose Up
-- The ids of the objects that the request has created with these changes, so that its answer can be read again.
ALTER TABLE idempotency_marks ADD COLUMN IF NOT EXISTS created TEXT[];
