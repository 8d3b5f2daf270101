-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS channels_by_activity ON channels (home, is_public, last_activity, id);
