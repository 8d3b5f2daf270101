-- +goose NO TRANSACTION
-- +goose Up
-- The ids whose rows move with a user, including the user's own id. Every home has a copy of every row.
CREATE TABLE IF NOT EXISTS moved_ids (
  home    TEXT NOT NULL,
  user_id TEXT NOT NULL,
  id      TEXT NOT NULL,
  kind    TEXT NOT NULL{{region}},
  CONSTRAINT moved_ids_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT moved_ids_pkey PRIMARY KEY (home, user_id, id)
){{locality}};
