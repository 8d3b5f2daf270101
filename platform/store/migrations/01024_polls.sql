-- +goose NO TRANSACTION
-- +goose Up
-- A poll, at the home of its creator. post_id is the post that it is part of, empty before there is one.
CREATE TABLE IF NOT EXISTS polls (
  home              TEXT        NOT NULL,
  id                TEXT        NOT NULL,
  creator_id        TEXT        NOT NULL,
  creator_public_id TEXT        NOT NULL,
  title             TEXT        NOT NULL,
  question          TEXT        NOT NULL,
  answers           JSONB       NOT NULL,
  answer_type       TEXT        NOT NULL,
  closed_in         BIGINT      NOT NULL,
  closes_at         TIMESTAMPTZ,
  closed_at         TIMESTAMPTZ,
  post_id           TEXT        NOT NULL DEFAULT '',
  created_at        TIMESTAMPTZ NOT NULL,
  updated_at        TIMESTAMPTZ NOT NULL,
  deleted_at        TIMESTAMPTZ{{region}},
  CONSTRAINT polls_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT polls_answer_type_check CHECK (answer_type IN ('single', 'multiple')),
  CONSTRAINT polls_pkey PRIMARY KEY (home, id)
){{locality}};
-- For collecting the ids that move with a user.
CREATE INDEX IF NOT EXISTS polls_by_creator ON polls (home, creator_id, id);
