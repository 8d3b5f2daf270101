-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS channel_users_moderators ON channel_users (home, channel_id, created_at, user_id) WHERE is_moderator;
