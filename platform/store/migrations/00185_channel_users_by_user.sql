-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS channel_users_by_user ON channel_users (home, user_id, channel_id) WHERE membership = 'member';
