-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS invitations_by_invited_target ON invitations (home, invited_id, target_id, created_at, id);
