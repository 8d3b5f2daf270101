-- +goose NO TRANSACTION
-- +goose Up
-- A pinned post of a community, or of the network for the global feed; at the home of the post, whichever it is.
CREATE TABLE IF NOT EXISTS pins (
  home            TEXT        NOT NULL,
  target_id       TEXT        NOT NULL,
  placement       TEXT        NOT NULL,
  post_id         TEXT        NOT NULL,
  community_id    TEXT        NOT NULL,
  pinned_by       TEXT        NOT NULL,
  pinned_by_id    TEXT        NOT NULL,
  pinned_at       TIMESTAMPTZ NOT NULL,
  post_created_at TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT pins_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT pins_placement_check CHECK (placement IN ('default', 'announcement', 'global')),
  CONSTRAINT pins_pkey PRIMARY KEY (home, target_id, placement, post_id)
){{locality}};
CREATE INDEX IF NOT EXISTS pins_by_post ON pins (home, post_id);
CREATE INDEX IF NOT EXISTS pins_by_community ON pins (home, community_id);
