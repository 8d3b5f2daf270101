-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS invitations_by_target ON invitations (home, target_id, created_at, id);
