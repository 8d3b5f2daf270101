-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS poll_votes_by_answer ON poll_votes (home, poll_id, answer_id, created_at, id);
