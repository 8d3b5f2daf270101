-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS pins_by_community ON pins (home, community_id);
