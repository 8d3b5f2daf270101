-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS invitations_by_invited_kind ON invitations (home, invited_id, type, status, created_at, id);
