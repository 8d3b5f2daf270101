-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS file_releases_due ON file_releases (home, due_at, id);
