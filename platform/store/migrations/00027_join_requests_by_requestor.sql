-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS join_requests_by_requestor ON join_requests (home, community_id, requestor_id, created_at, id);
