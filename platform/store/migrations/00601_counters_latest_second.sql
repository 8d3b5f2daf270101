-- +goose NO TRANSACTION
-- +goose Up
-- One of the latest comments that the shard has counted, see store/latest_comment.go.
ALTER TABLE counters ADD COLUMN IF NOT EXISTS latest_2 TEXT NOT NULL DEFAULT '';
