-- +goose NO TRANSACTION
-- +goose Up
-- For collecting the ids that move with a user.
CREATE INDEX IF NOT EXISTS polls_by_creator ON polls (home, creator_id, id);
