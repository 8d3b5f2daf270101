-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS uploads_by_expiry ON uploads (home, expires_at, id);
