-- +goose NO TRANSACTION
-- +goose Up
-- Whether a room has a live channel. It has the room's id.
ALTER TABLE rooms ADD COLUMN IF NOT EXISTS has_channel BOOL NOT NULL DEFAULT false;
