-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS rooms_live_by_target ON rooms (home, target_id, created_at, id) WHERE status = 'live' AND deleted_at IS NULL;
