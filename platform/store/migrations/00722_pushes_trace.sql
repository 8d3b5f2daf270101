-- +goose NO TRANSACTION
-- +goose Up
-- The trace of the request that caused the push, as in the header traceparent; empty if it is not exported.
ALTER TABLE pushes ADD COLUMN IF NOT EXISTS trace TEXT NOT NULL DEFAULT '';
