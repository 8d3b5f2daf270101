-- +goose NO TRANSACTION
-- +goose Up
-- The users of this home that a user follows: feeds find their targets by it.
CREATE INDEX IF NOT EXISTS followers_by_follower ON followers (home, follower_id, status, followee_id);
