-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS moderation_rules_deleted ON moderation_rules (home, changed_at) WHERE is_deleted;
