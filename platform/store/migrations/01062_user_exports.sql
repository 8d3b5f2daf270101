-- +goose NO TRANSACTION
-- +goose Up
-- The export of a user, in the user's home. The id is the internal id of the user. bytes is the size of the archive.
CREATE TABLE IF NOT EXISTS user_exports (
  home         TEXT        NOT NULL,
  id           TEXT        NOT NULL,
  public_id    TEXT        NOT NULL,
  requested_by TEXT        NOT NULL,
  state        TEXT        NOT NULL,
  step         TEXT        NOT NULL DEFAULT '',
  position     TEXT[]      NOT NULL DEFAULT '{}',
  exported     JSONB       NOT NULL DEFAULT '{}',
  bytes        BIGINT      NOT NULL DEFAULT 0,
  version      BIGINT      NOT NULL DEFAULT 1,
  attempts     BIGINT      NOT NULL DEFAULT 0,
  due_at       TIMESTAMPTZ NOT NULL,
  requested_at TIMESTAMPTZ NOT NULL,
  updated_at   TIMESTAMPTZ NOT NULL,
  finished_at  TIMESTAMPTZ{{region}},
  CONSTRAINT user_exports_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT user_exports_state_check CHECK (state IN ('collecting', 'packing', 'ready')),
  CONSTRAINT user_exports_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS user_exports_due ON user_exports (home, state, due_at, id);
