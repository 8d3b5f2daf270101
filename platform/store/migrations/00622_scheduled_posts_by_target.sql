-- +goose NO TRANSACTION
-- +goose Up
-- For collecting the ids that move with a user.
CREATE INDEX IF NOT EXISTS scheduled_posts_by_target ON scheduled_posts (home, target_id, id);
