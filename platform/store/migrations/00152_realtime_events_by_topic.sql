-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS realtime_events_by_topic ON realtime_events (home, topic, seq);
