-- +goose NO TRANSACTION
-- +goose Up
-- The internal ids of the participants who send to the room.
ALTER TABLE rooms ADD COLUMN IF NOT EXISTS on_stage_ids TEXT[] NOT NULL DEFAULT '{}';
