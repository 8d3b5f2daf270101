-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS posts_by_type_updated ON posts (home, target_id, feed_type, data_type, updated_at, id);
