-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS community_members_by_created ON community_members (home, community_id, state, created_at, user_id);
