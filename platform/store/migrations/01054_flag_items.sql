-- +goose NO TRANSACTION
-- +goose Up
-- The flags of one target as an item of the flag queue. place_id is the community or channel of the target, if it has
-- one. An item is resolved or has flags; reason is the most frequent one of these. version changes with every change. shard
-- is that of the counters which count the item.
CREATE TABLE IF NOT EXISTS flag_items (
  home          TEXT        NOT NULL,
  target_id     TEXT        NOT NULL,
  target_type   TEXT        NOT NULL,
  place_id      TEXT        NOT NULL,
  state         TEXT        NOT NULL,
  reason        TEXT        NOT NULL DEFAULT '',
  flag_count    BIGINT      NOT NULL DEFAULT 0,
  opened_at     TIMESTAMPTZ NOT NULL,
  flagged_at    TIMESTAMPTZ NOT NULL,
  claimed_by    TEXT        NOT NULL DEFAULT '',
  claimed_until TIMESTAMPTZ,
  outcome       TEXT        NOT NULL DEFAULT '',
  resolved_by   TEXT        NOT NULL DEFAULT '',
  resolved_at   TIMESTAMPTZ,
  is_hidden     BOOLEAN     NOT NULL DEFAULT false,
  shard         BIGINT      NOT NULL,
  version       BIGINT      NOT NULL DEFAULT 1,
  -- When as many users had flagged the user as hide content; NULL before, and for other objects.
  escalated_at  TIMESTAMPTZ{{region}},
  CONSTRAINT flag_items_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT flag_items_state_check CHECK (state IN ('open', 'claimed', 'resolved')),
  CONSTRAINT flag_items_pkey PRIMARY KEY (home, target_id)
){{locality}};
CREATE INDEX IF NOT EXISTS flag_items_by_state ON flag_items (home, state, opened_at, target_id);
CREATE INDEX IF NOT EXISTS flag_items_by_type ON flag_items (home, state, target_type, opened_at, target_id);
CREATE INDEX IF NOT EXISTS flag_items_by_reason ON flag_items (home, state, reason, opened_at, target_id);
CREATE INDEX IF NOT EXISTS flag_items_by_place ON flag_items (home, place_id, state, opened_at, target_id);
CREATE INDEX IF NOT EXISTS flag_items_by_escalation ON flag_items (home, state, escalated_at, target_id);
