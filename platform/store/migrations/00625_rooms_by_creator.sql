-- +goose NO TRANSACTION
-- +goose Up
-- For collecting the ids that move with a user.
CREATE INDEX IF NOT EXISTS rooms_of_creator ON rooms (home, creator_id, id);
