-- +goose NO TRANSACTION
-- +goose Up
-- Users who are in a place, such as a room, at the home of the place. Servers renew until in batches, and remove rows after it.
CREATE TABLE IF NOT EXISTS presences (
  home      TEXT        NOT NULL,
  place     TEXT        NOT NULL,
  user_id   TEXT        NOT NULL,
  joined_at TIMESTAMPTZ NOT NULL,
  until     TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT presences_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT presences_pkey PRIMARY KEY (home, place, user_id)
){{locality}};
CREATE INDEX IF NOT EXISTS presences_by_until ON presences (home, until);
