-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS channels_by_created ON channels (home, is_public, created_at, id);
