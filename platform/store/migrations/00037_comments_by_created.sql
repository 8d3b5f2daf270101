-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS comments_by_created ON comments (home, reference_id, parent_id, created_at, id);
