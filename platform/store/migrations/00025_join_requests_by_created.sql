-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS join_requests_by_created ON join_requests (home, community_id, created_at, id);
