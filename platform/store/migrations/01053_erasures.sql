-- +goose NO TRANSACTION
-- +goose Up
-- The erasure of a user, in the user's home. The id is the internal id of the user. public_id is emptied when the
-- erasure is done.
CREATE TABLE IF NOT EXISTS erasures (
  home         TEXT        NOT NULL,
  id           TEXT        NOT NULL,
  public_id    TEXT        NOT NULL,
  requested_by TEXT        NOT NULL,
  state        TEXT        NOT NULL,
  step         TEXT        NOT NULL DEFAULT '',
  position     TEXT[]      NOT NULL DEFAULT '{}',
  erased       JSONB       NOT NULL DEFAULT '{}',
  version      BIGINT      NOT NULL DEFAULT 1,
  attempts     BIGINT      NOT NULL DEFAULT 0,
  due_at       TIMESTAMPTZ NOT NULL,
  requested_at TIMESTAMPTZ NOT NULL,
  updated_at   TIMESTAMPTZ NOT NULL,
  finished_at  TIMESTAMPTZ{{region}},
  CONSTRAINT erasures_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT erasures_state_check CHECK (state IN ('running', 'verifying', 'done')),
  CONSTRAINT erasures_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS erasures_due ON erasures (home, state, due_at, id);
