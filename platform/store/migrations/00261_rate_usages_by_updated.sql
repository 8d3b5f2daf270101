-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS rate_usages_by_updated ON rate_usages (home, updated_at);
