-- +goose NO TRANSACTION
-- +goose Up
-- The targets of audit_events, to find the events of a target.
CREATE TABLE IF NOT EXISTS audit_targets (
  home     TEXT        NOT NULL,
  event_id TEXT        NOT NULL,
  type     TEXT        NOT NULL,
  id       TEXT        NOT NULL,
  at       TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT audit_targets_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT audit_targets_pkey PRIMARY KEY (home, event_id, type, id)
){{locality}};
CREATE INDEX IF NOT EXISTS audit_targets_by_target ON audit_targets (home, id, type, at, event_id);
