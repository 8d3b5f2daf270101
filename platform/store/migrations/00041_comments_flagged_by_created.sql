-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS comments_flagged_by_created ON comments (home, reference_id, created_at, id) WHERE flag_count > 0;
