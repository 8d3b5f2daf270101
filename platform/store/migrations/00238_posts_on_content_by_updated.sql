-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS posts_on_content_by_updated ON posts (home, target_public_id, updated_at, id) WHERE target_type = 'content';
