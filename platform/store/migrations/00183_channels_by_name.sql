-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS channels_by_name ON channels (home, is_public, name_key, id);
