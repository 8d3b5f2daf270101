-- +goose NO TRANSACTION
-- +goose Up
-- One row a poll, user and answer, at the home of the poll: the facts that every count of votes is made of.
CREATE TABLE IF NOT EXISTS poll_votes (
  home       TEXT        NOT NULL,
  poll_id    TEXT        NOT NULL,
  user_id    TEXT        NOT NULL,
  answer_id  TEXT        NOT NULL,
  id         TEXT        NOT NULL,
  created_at TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT poll_votes_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT poll_votes_pkey PRIMARY KEY (home, poll_id, user_id, answer_id)
){{locality}};
CREATE INDEX IF NOT EXISTS poll_votes_by_answer ON poll_votes (home, poll_id, answer_id, created_at, id);
