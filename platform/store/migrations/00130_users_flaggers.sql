-- +goose NO TRANSACTION
-- +goose Up
-- Who flags a user, recomputed from the rows of flags whenever they change, as on posts and comments.
ALTER TABLE users ADD COLUMN IF NOT EXISTS flaggers TEXT[] NOT NULL DEFAULT '{}';
