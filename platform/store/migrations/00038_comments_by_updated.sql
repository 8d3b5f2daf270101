-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS comments_by_updated ON comments (home, reference_id, parent_id, updated_at, id);
