-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS idempotency_marks_by_expiry ON idempotency_marks (home, expires_at);
