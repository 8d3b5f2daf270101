-- +goose NO TRANSACTION
-- +goose Up
-- Deletes old events for the retention of the audit. It runs with the rights of its owner, because the role of the servers
-- may only insert and select these rows. Whatever a server asks for, the last 30 days remain.
CREATE OR REPLACE FUNCTION delete_audit_events(of_home TEXT, before TIMESTAMPTZ, max_rows BIGINT) RETURNS BIGINT LANGUAGE SQL SECURITY DEFINER AS $$
  WITH old AS (SELECT at, id FROM public.audit_events WHERE home = of_home AND at < LEAST(before, now() - INTERVAL '30 days') ORDER BY at, id LIMIT max_rows),
    details AS (DELETE FROM public.audit_details WHERE home = of_home AND event_id IN (SELECT id FROM old) RETURNING event_id),
    targets AS (DELETE FROM public.audit_targets WHERE home = of_home AND event_id IN (SELECT id FROM old) RETURNING event_id),
    gone AS (DELETE FROM public.audit_events WHERE home = of_home AND (at, id) IN (SELECT at, id FROM old) RETURNING id)
  SELECT count(*) FROM gone
$$;
