-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS users_unclaimed_handles ON users (home, created_at, id) WHERE profile_handle <> '' AND handle_claim = '';
