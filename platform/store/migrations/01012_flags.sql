-- +goose NO TRANSACTION
-- +goose Up
-- One row a user and target, at the target's home: the facts that every flag count is made of.
-- Lists continue after the id of a flag. is_queued: the flag is part of an item of the flag queue; a job adds those that
-- are not.
CREATE TABLE IF NOT EXISTS flags (
  home        TEXT        NOT NULL,
  target_id   TEXT        NOT NULL,
  user_id     TEXT        NOT NULL,
  target_type TEXT        NOT NULL,
  reason      TEXT        NOT NULL,
  detail      TEXT        NOT NULL,
  created_at  TIMESTAMPTZ NOT NULL,
  id          TEXT        NOT NULL DEFAULT '010000000000000000000000',
  is_queued   BOOLEAN     NOT NULL DEFAULT false{{region}},
  CONSTRAINT flags_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT flags_pkey PRIMARY KEY (home, target_id, user_id)
){{locality}};
CREATE INDEX IF NOT EXISTS flags_by_created ON flags (home, created_at, id);
CREATE INDEX IF NOT EXISTS flags_by_type ON flags (home, target_type, created_at, id);
CREATE INDEX IF NOT EXISTS flags_by_reason ON flags (home, reason, created_at, id);
CREATE INDEX IF NOT EXISTS flags_unqueued ON flags (home, is_queued, created_at, target_id);
