-- +goose NO TRANSACTION
-- +goose Up
-- What identifies persons in audit_events: the origin of the request, and the values before and after. subject_id is the
-- internal id of the user whose erasure deletes the row, or empty.
CREATE TABLE IF NOT EXISTS audit_details (
  home       TEXT  NOT NULL,
  event_id   TEXT  NOT NULL,
  part       TEXT  NOT NULL,
  type       TEXT  NOT NULL,
  id         TEXT  NOT NULL,
  subject_id TEXT  NOT NULL,
  value      JSONB NOT NULL{{region}},
  CONSTRAINT audit_details_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT audit_details_part_check CHECK (part IN ('origin', 'before', 'after')),
  CONSTRAINT audit_details_pkey PRIMARY KEY (home, event_id, part, type, id)
){{locality}};
