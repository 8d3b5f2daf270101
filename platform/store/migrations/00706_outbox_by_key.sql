-- +goose NO TRANSACTION
-- +goose Up
-- Partial, so that no statement that reads by lane can use it, whatever the statistics of the table say.
CREATE INDEX IF NOT EXISTS outbox_by_key ON outbox (home, order_key, written_at, id) WHERE order_key <> '';
