-- +goose NO TRANSACTION
-- +goose Up
-- The trace of the request that caused the event, as in the header traceparent; empty if it is not exported.
ALTER TABLE webhook_deliveries ADD COLUMN IF NOT EXISTS trace TEXT NOT NULL DEFAULT '';
