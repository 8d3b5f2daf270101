-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS community_categories_by_community ON community_categories (home, community_id);
