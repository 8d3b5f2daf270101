-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS outbox_due ON outbox (home, lane, not_before, id);
