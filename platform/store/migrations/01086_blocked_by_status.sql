-- +goose NO TRANSACTION
-- +goose Up
-- The users who block a user now, without those who once did: anyone can add either.
CREATE INDEX IF NOT EXISTS blocked_by_status ON blocked_by (home, blocked_id, status, blocker_id);
