-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS invitations_by_invited ON invitations (home, invited_id, created_at, id);
