-- +goose NO TRANSACTION
-- +goose Up
CREATE UNIQUE INDEX IF NOT EXISTS user_homes_by_seq ON user_homes (home, seq);
