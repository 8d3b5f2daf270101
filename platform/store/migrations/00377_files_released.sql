-- +goose NO TRANSACTION
-- +goose Up
-- Whether an object of the uploader referred to the file and does so no more, so that the file is deleted when nothing
-- else refers to it.
ALTER TABLE files ADD COLUMN IF NOT EXISTS released BOOL NOT NULL DEFAULT false;
