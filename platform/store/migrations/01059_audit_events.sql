-- +goose NO TRANSACTION
-- +goose Up
-- What administrators, moderators and keys have changed. Rows are inserted in the transaction of the change and never
-- change. They do not identify a person by themselves: actor is the internal id of a user, the name in an administrator's token or
-- the id of a key.
CREATE TABLE IF NOT EXISTS audit_events (
  home       TEXT        NOT NULL,
  at         TIMESTAMPTZ NOT NULL,
  id         TEXT        NOT NULL,
  actor_kind TEXT        NOT NULL,
  actor      TEXT        NOT NULL,
  key_id     TEXT        NOT NULL,
  roles      TEXT[]      NOT NULL,
  permission TEXT        NOT NULL,
  operation  TEXT        NOT NULL,
  targets    JSONB       NOT NULL,
  request_id TEXT        NOT NULL{{region}},
  CONSTRAINT audit_events_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT audit_events_pkey PRIMARY KEY (home, at, id)
){{locality}};
CREATE INDEX IF NOT EXISTS audit_events_by_actor ON audit_events (home, actor, at, id);
CREATE INDEX IF NOT EXISTS audit_events_by_operation ON audit_events (home, operation, at, id);
