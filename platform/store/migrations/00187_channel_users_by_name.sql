-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS channel_users_by_name ON channel_users (home, channel_id, membership, name_key, user_id);
