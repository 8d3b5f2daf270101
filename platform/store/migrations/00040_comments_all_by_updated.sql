-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS comments_all_by_updated ON comments (home, reference_id, updated_at, id);
