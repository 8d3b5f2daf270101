-- +goose NO TRANSACTION
-- +goose Up
-- Rows of a home with the same key are delivered in the order of written_at. Rows without a key have no order.
ALTER TABLE outbox ADD COLUMN IF NOT EXISTS order_key TEXT NOT NULL DEFAULT '';
