-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS outbox_failed ON outbox (home, lane, created_at, id) WHERE attempts > 0;
