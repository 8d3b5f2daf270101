-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS comments_flagged_by_updated ON comments (home, reference_id, updated_at, id) WHERE flag_count > 0;
