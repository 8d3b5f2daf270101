-- +goose NO TRANSACTION
-- +goose Up
-- The latest comments that posts, stories and comments carry are approved ones: however many wait, none of them is read for it.
CREATE INDEX IF NOT EXISTS comments_approved_by_created ON comments (home, reference_id, parent_id, created_at, id) WHERE approval_status = 'approved';
