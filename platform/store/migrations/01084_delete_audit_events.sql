-- +goose NO TRANSACTION
-- +goose Up
-- Deletes old events for the retention of the audit, of those whose times and ids are given, and returns how many are gone. It runs
-- with the rights of its owner, because the role of the servers may only insert and select these rows. Whatever a server asks for, the
-- last 30 days remain. Names that a caller defines, such as another now(), do not change what it does.
CREATE OR REPLACE FUNCTION delete_audit_events(of_home TEXT, ats TIMESTAMPTZ[], ids TEXT[]) RETURNS BIGINT LANGUAGE SQL SECURITY DEFINER{{search_path}} AS $$
  DELETE FROM public.audit_details WHERE home = of_home AND event_id IN (SELECT e.id FROM unnest(ats, ids) AS old(at, id)
    JOIN public.audit_events AS e ON e.home = of_home AND e.at = old.at AND e.id = old.id WHERE e.at < now() - INTERVAL '30 days');
  DELETE FROM public.audit_targets WHERE home = of_home AND event_id IN (SELECT e.id FROM unnest(ats, ids) AS old(at, id)
    JOIN public.audit_events AS e ON e.home = of_home AND e.at = old.at AND e.id = old.id WHERE e.at < now() - INTERVAL '30 days');
  DELETE FROM public.audit_events WHERE home = of_home AND (at, id) IN (SELECT old.at, old.id FROM unnest(ats, ids) AS old(at, id))
    AND at < now() - INTERVAL '30 days';
  SELECT cardinality(ids) - count(*) FROM unnest(ats, ids) AS old(at, id)
    JOIN public.audit_events AS e ON e.home = of_home AND e.at = old.at AND e.id = old.id;
$$;
