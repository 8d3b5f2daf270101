-- +goose NO TRANSACTION
-- +goose Up
-- Before this migration, pending comments were visible to all users and counted, and no operation could decide about them: they keep that state
-- seen.
UPDATE comments SET approval_status = 'approved' WHERE home = 'us' AND approval_status = 'pending';
