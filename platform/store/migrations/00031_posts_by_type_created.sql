-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS posts_by_type_created ON posts (home, target_id, feed_type, data_type, created_at, id);
