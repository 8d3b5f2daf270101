-- +goose NO TRANSACTION
-- +goose Up
-- Who is in a place, such as online, by the time of the latest heartbeat.
CREATE INDEX IF NOT EXISTS presences_by_place ON presences (home, place, until, user_id);
