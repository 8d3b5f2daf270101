-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS user_moves_due ON user_moves (home, state, due_at, id);
