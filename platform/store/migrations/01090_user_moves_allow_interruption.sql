-- +goose NO TRANSACTION
-- +goose Up
-- Whether requests that concern the user may be refused for longer than two seconds while the rows move. Moves of earlier versions did that.
ALTER TABLE user_moves ADD COLUMN IF NOT EXISTS allow_interruption BOOL NOT NULL DEFAULT true;
