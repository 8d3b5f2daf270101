-- +goose NO TRANSACTION
-- +goose Up
-- The users who caused an item of a tray, at the home of the tray's user.
CREATE TABLE IF NOT EXISTS tray_actors (
  home     TEXT        NOT NULL,
  user_id  TEXT        NOT NULL,
  item_id  TEXT        NOT NULL,
  actor_id TEXT        NOT NULL,
  acted_at TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT tray_actors_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT tray_actors_pkey PRIMARY KEY (home, user_id, item_id, actor_id)
){{locality}};
CREATE INDEX IF NOT EXISTS tray_actors_by_time ON tray_actors (home, user_id, item_id, acted_at, actor_id);
