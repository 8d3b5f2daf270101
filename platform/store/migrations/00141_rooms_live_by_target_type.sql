-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS rooms_live_by_target_type ON rooms (home, target_type, created_at, id) WHERE status = 'live' AND deleted_at IS NULL;
