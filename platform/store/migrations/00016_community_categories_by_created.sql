-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS community_categories_by_created ON community_categories (home, category_id, created_at, community_id);
