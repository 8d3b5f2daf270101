-- +goose NO TRANSACTION
-- +goose Up
-- The answer of a user to an event, at the home of the event.
CREATE TABLE IF NOT EXISTS event_rsvps (
  home         TEXT        NOT NULL,
  event_id     TEXT        NOT NULL,
  user_id      TEXT        NOT NULL,
  status       TEXT        NOT NULL,
  responded_at TIMESTAMPTZ NOT NULL,
  created_at   TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT event_rsvps_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT event_rsvps_status_check CHECK (status IN ('going', 'interested', 'not_going')),
  CONSTRAINT event_rsvps_pkey PRIMARY KEY (home, event_id, user_id)
){{locality}};
CREATE INDEX IF NOT EXISTS event_rsvps_by_status ON event_rsvps (home, event_id, status, responded_at, user_id);
CREATE INDEX IF NOT EXISTS event_rsvps_of_user ON event_rsvps (home, user_id, status, responded_at, event_id);
