-- +goose NO TRANSACTION
-- +goose Up
-- A server stores in move_routes the routes of unfinished moves that it follows, each as "user version", once the statements that it
-- sent without knowing them have ended.
ALTER TABLE servers ADD COLUMN IF NOT EXISTS move_routes TEXT[] NOT NULL DEFAULT '{}';
