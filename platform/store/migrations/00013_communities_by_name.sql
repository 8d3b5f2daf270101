-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS communities_by_name ON communities (home, name_key, id);
