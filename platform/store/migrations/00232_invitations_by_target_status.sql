-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS invitations_by_target_status ON invitations (home, target_id, status, created_at, id);
