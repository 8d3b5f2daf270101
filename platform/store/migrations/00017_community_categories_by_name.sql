-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS community_categories_by_name ON community_categories (home, category_id, name_key, community_id);
