-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS daily_usages_by_day ON daily_usages (home, day);
