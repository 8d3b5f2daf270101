-- +goose NO TRANSACTION
-- +goose Up
-- One row a user and post or story that the user viewed, at the home of what was viewed: the facts that every impression and
-- reach is made of. last_at is the time of the last view that was counted; the same view told twice counts once.
CREATE TABLE IF NOT EXISTS views (
  home           TEXT        NOT NULL,
  reference_id   TEXT        NOT NULL,
  user_id        TEXT        NOT NULL,
  reference_type TEXT        NOT NULL,
  n              BIGINT      NOT NULL,
  first_at       TIMESTAMPTZ NOT NULL,
  last_at        TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT views_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT views_pkey PRIMARY KEY (home, reference_id, user_id)
){{locality}};
CREATE INDEX IF NOT EXISTS views_by_first ON views (home, reference_id, first_at, user_id);
