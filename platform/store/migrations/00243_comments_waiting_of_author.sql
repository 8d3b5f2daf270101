-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS comments_waiting_of_author ON comments (home, reference_id, author_id, approval_status, created_at, id) WHERE approval_status <> 'approved';
