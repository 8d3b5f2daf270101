-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS comments_waiting_by_updated ON comments (home, reference_id, approval_status, updated_at, id) WHERE approval_status <> 'approved';
