-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS stories_by_expiry ON stories (home, target_id, expires_at) WHERE deleted_at IS NULL;
