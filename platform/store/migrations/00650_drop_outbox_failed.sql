-- +goose NO TRANSACTION
-- +goose Up
-- PostgreSQL read this index instead of the primary key whenever the statistics of the table were taken while it was empty.
DROP INDEX IF EXISTS outbox_failed;
