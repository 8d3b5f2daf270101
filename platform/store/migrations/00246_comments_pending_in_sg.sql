-- +goose NO TRANSACTION
-- +goose Up
-- Until now everybody saw comments that waited for a moderator, they counted, and nobody could decide about them: they stay as they were
-- seen.
UPDATE comments SET approval_status = 'approved' WHERE home = 'sg' AND approval_status = 'pending';
