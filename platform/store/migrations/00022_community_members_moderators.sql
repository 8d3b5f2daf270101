-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS community_members_moderators ON community_members (home, community_id, created_at, user_id) WHERE is_moderator;
