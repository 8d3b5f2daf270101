-- +goose NO TRANSACTION
-- +goose Up
-- The trace of the request that wrote the row, as in the header traceparent; empty if it is not exported.
ALTER TABLE outbox ADD COLUMN IF NOT EXISTS trace TEXT NOT NULL DEFAULT '';
