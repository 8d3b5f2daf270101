-- +goose NO TRANSACTION
-- +goose Up
-- The move of a user to another home, at the home that the user's id contains. The id is the internal id of the user. ids is the
-- number of moving ids that servers know, and reason why a move was cancelled.
CREATE TABLE IF NOT EXISTS user_moves (
  home         TEXT        NOT NULL,
  id           TEXT        NOT NULL,
  from_home    TEXT        NOT NULL,
  to_home      TEXT        NOT NULL,
  state        TEXT        NOT NULL,
  reason       TEXT        NOT NULL DEFAULT '',
  step         TEXT        NOT NULL DEFAULT '',
  position     TEXT[]      NOT NULL DEFAULT '{}',
  moved        JSONB       NOT NULL DEFAULT '{}',
  ids          BIGINT      NOT NULL DEFAULT 0,
  version      BIGINT      NOT NULL DEFAULT 1,
  attempts     BIGINT      NOT NULL DEFAULT 0,
  due_at       TIMESTAMPTZ NOT NULL,
  requested_at TIMESTAMPTZ NOT NULL,
  updated_at   TIMESTAMPTZ NOT NULL,
  finished_at  TIMESTAMPTZ{{region}},
  CONSTRAINT user_moves_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT user_moves_state_check CHECK (state IN ('collecting', 'frozen', 'moving', 'cleaning', 'done', 'cancelled')),
  CONSTRAINT user_moves_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS user_moves_due ON user_moves (home, state, due_at, id);
