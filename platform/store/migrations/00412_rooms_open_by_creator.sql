-- +goose NO TRANSACTION
-- +goose Up
-- The rooms that end when their creator is banned.
CREATE INDEX IF NOT EXISTS rooms_open_by_creator ON rooms (home, creator_id, id)
  WHERE deleted_at IS NULL AND status IN ('idle', 'live', 'waitingReconnect');
