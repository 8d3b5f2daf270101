-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS channel_users_by_created ON channel_users (home, channel_id, membership, created_at, user_id);
