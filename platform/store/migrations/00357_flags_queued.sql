-- +goose NO TRANSACTION
-- +goose Up
-- Whether the flag is part of an item of the flag queue. Flags of earlier servers become part of one by a job.
ALTER TABLE flags ADD COLUMN IF NOT EXISTS is_queued BOOLEAN NOT NULL DEFAULT false;
