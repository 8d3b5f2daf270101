-- +goose NO TRANSACTION
-- +goose Up
-- An event that users attend, at the home of its origin: a community or a user. Its status follows from the times.
-- discussion_community_id: the community of those who attend, empty without one.
CREATE TABLE IF NOT EXISTS planned_events (
  home                    TEXT        NOT NULL,
  id                      TEXT        NOT NULL,
  creator_id              TEXT        NOT NULL,
  creator_public_id       TEXT        NOT NULL,
  title                   TEXT        NOT NULL,
  description             TEXT        NOT NULL,
  type                    TEXT        NOT NULL,
  start_time              TIMESTAMPTZ NOT NULL,
  end_time                TIMESTAMPTZ NOT NULL,
  location                TEXT        NOT NULL,
  external_url            TEXT        NOT NULL,
  cover_image_file_id     TEXT        NOT NULL,
  origin_type             TEXT        NOT NULL,
  origin_id               TEXT        NOT NULL,
  origin_public_id        TEXT        NOT NULL,
  discussion_community_id TEXT        NOT NULL,
  post_id                 TEXT        NOT NULL DEFAULT '',
  tags                    TEXT[]      NOT NULL,
  metadata                JSONB       NOT NULL,
  created_at              TIMESTAMPTZ NOT NULL,
  updated_at              TIMESTAMPTZ NOT NULL,
  cancelled_at            TIMESTAMPTZ,
  deleted_at              TIMESTAMPTZ,
  state                   TEXT        NOT NULL GENERATED ALWAYS AS (CASE WHEN deleted_at IS NOT NULL THEN 'deleted'
    WHEN cancelled_at IS NOT NULL THEN 'cancelled' ELSE 'open' END) STORED{{region}},
  CONSTRAINT planned_events_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT planned_events_type_check CHECK (type IN ('virtual', 'in_person')),
  CONSTRAINT planned_events_origin_type_check CHECK (origin_type IN ('community', 'user')),
  CONSTRAINT planned_events_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS planned_events_by_start ON planned_events (home, state, start_time, id);
CREATE INDEX IF NOT EXISTS planned_events_by_created ON planned_events (home, state, created_at, id);
CREATE INDEX IF NOT EXISTS planned_events_of_origin_by_start ON planned_events (home, origin_id, state, start_time, id);
CREATE INDEX IF NOT EXISTS planned_events_of_origin_by_created ON planned_events (home, origin_id, state, created_at, id);
CREATE INDEX IF NOT EXISTS planned_events_of_creator_by_start ON planned_events (home, creator_id, state, start_time, id);
CREATE INDEX IF NOT EXISTS planned_events_of_creator_by_created ON planned_events (home, creator_id, state, created_at, id);
-- For collecting the ids that move with a user.
CREATE INDEX IF NOT EXISTS planned_events_of_origin ON planned_events (home, origin_id, id);
