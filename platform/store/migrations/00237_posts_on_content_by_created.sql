-- +goose NO TRANSACTION
-- +goose Up
-- Posts on content stand under one target a home: what a client means is its own id of the content.
CREATE INDEX IF NOT EXISTS posts_on_content_by_created ON posts (home, target_public_id, created_at, id) WHERE target_type = 'content';
