-- +goose NO TRANSACTION
-- +goose Up
-- For collecting the ids that move with a user.
CREATE INDEX IF NOT EXISTS files_by_owner ON files (home, owner_id, id);
