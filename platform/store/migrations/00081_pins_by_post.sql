-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS pins_by_post ON pins (home, post_id);
