-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS community_members_by_name ON community_members (home, community_id, state, name_key, user_id);
