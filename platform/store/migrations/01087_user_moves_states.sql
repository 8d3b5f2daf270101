-- +goose NO TRANSACTION
-- +goose Up
-- Moves have a state in which servers know the ids that will move. Servers are the only writers of states, and some are of later
-- versions.
ALTER TABLE user_moves DROP CONSTRAINT IF EXISTS user_moves_state_check;
