-- +goose NO TRANSACTION
-- +goose Up
-- What moderators note about an item of the flag queue.
CREATE TABLE IF NOT EXISTS flag_notes (
  home       TEXT        NOT NULL,
  target_id  TEXT        NOT NULL,
  id         TEXT        NOT NULL,
  author_id  TEXT        NOT NULL,
  text       TEXT        NOT NULL,
  created_at TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT flag_notes_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT flag_notes_pkey PRIMARY KEY (home, target_id, id)
){{locality}};
