-- +goose NO TRANSACTION
-- +goose Up
-- What happened to a user or to what the user wrote, at the home of the user: one item for what is of the same kind, about the
-- same object and on the same day. The id follows from these, so that an event that arrives twice changes nothing.
CREATE TABLE IF NOT EXISTS tray_items (
  home             TEXT        NOT NULL,
  user_id          TEXT        NOT NULL,
  id               TEXT        NOT NULL,
  kind             TEXT        NOT NULL,
  target_type      TEXT        NOT NULL,
  target_id        TEXT        NOT NULL,
  target_public_id TEXT        NOT NULL,
  reference_type   TEXT        NOT NULL,
  reference_id     TEXT        NOT NULL,
  action_id        TEXT        NOT NULL,
  parent_id        TEXT        NOT NULL,
  root_id          TEXT        NOT NULL,
  comment_id       TEXT        NOT NULL,
  day              TIMESTAMPTZ NOT NULL,
  last_occurred_at TIMESTAMPTZ NOT NULL,
  last_seen_at     TIMESTAMPTZ{{region}},
  CONSTRAINT tray_items_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT tray_items_pkey PRIMARY KEY (home, user_id, id)
){{locality}};
CREATE INDEX IF NOT EXISTS tray_items_by_time ON tray_items (home, user_id, last_occurred_at, id);
CREATE INDEX IF NOT EXISTS tray_items_by_age ON tray_items (home, last_occurred_at, user_id, id);
