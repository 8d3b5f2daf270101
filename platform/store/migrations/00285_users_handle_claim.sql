-- +goose NO TRANSACTION
-- +goose Up
-- The claim in handles with which the user holds profile_handle; 'duplicate' if another user held it first, before handles were unique.
ALTER TABLE users ADD COLUMN IF NOT EXISTS handle_claim TEXT NOT NULL DEFAULT '';
