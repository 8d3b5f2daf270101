-- +goose NO TRANSACTION
-- +goose Up
-- See user_moves_states.
ALTER TABLE user_homes DROP CONSTRAINT IF EXISTS user_homes_state_check;
