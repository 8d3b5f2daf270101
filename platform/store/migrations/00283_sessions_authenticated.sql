-- +goose NO TRANSACTION
-- +goose Up
-- Whether the session was created with an authToken, which users with network roles need.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS authenticated BOOLEAN NOT NULL DEFAULT false;
