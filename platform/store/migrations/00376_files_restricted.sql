-- +goose NO TRANSACTION
-- +goose Up
-- Whether only those who may read what refers to the file may read it.
ALTER TABLE files ADD COLUMN IF NOT EXISTS restricted BOOL NOT NULL DEFAULT false;
