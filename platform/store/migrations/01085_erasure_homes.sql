-- +goose NO TRANSACTION
-- +goose Up
-- How far the pass of an erasure is in each home: a JSON object by home, emptied when a pass begins.
ALTER TABLE erasures ADD COLUMN IF NOT EXISTS homes JSONB NOT NULL DEFAULT '{}';
