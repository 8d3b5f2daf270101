-- +goose NO TRANSACTION
-- +goose Up
-- When the row was written, by the clock of the database.
ALTER TABLE outbox ADD COLUMN IF NOT EXISTS written_at TIMESTAMPTZ NOT NULL DEFAULT now();
