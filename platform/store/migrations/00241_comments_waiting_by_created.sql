-- +goose NO TRANSACTION
-- +goose Up
-- What moderators look through: pending and declined comments, which are few among many.
CREATE INDEX IF NOT EXISTS comments_waiting_by_created ON comments (home, reference_id, approval_status, created_at, id) WHERE approval_status <> 'approved';
