-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS join_requests_by_status ON join_requests (home, community_id, status, created_at, id);
