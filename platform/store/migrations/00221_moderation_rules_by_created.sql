-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS moderation_rules_by_created ON moderation_rules (home, list, created_at, id) WHERE NOT is_deleted;
