-- +goose NO TRANSACTION
-- +goose Up
-- pending_slot lets a user have one pending request to a community; a partial unique index would ask every region.
CREATE TABLE IF NOT EXISTS join_requests (
  home                TEXT        NOT NULL,
  community_id        TEXT        NOT NULL,
  id                  TEXT        NOT NULL,
  requestor_id        TEXT        NOT NULL,
  requestor_public_id TEXT        NOT NULL,
  responder_id        TEXT        NOT NULL DEFAULT '',
  responder_public_id TEXT        NOT NULL DEFAULT '',
  responded_at        TIMESTAMPTZ,
  status              TEXT        NOT NULL,
  created_at          TIMESTAMPTZ NOT NULL,
  updated_at          TIMESTAMPTZ NOT NULL,
  pending_slot        TEXT        NOT NULL GENERATED ALWAYS AS (CASE WHEN status = 'pending' THEN 'p:' || requestor_id ELSE 'd:' || id END) STORED{{region}},
  CONSTRAINT join_requests_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT join_requests_status_check CHECK (status IN ('pending', 'approved', 'rejected', 'cancelled')),
  CONSTRAINT join_requests_pkey PRIMARY KEY (home, community_id, id),
  CONSTRAINT join_requests_pending UNIQUE (home, community_id, pending_slot)
){{locality}};
CREATE INDEX IF NOT EXISTS join_requests_by_created ON join_requests (home, community_id, created_at, id);
CREATE INDEX IF NOT EXISTS join_requests_by_status ON join_requests (home, community_id, status, created_at, id);
CREATE INDEX IF NOT EXISTS join_requests_by_requestor ON join_requests (home, community_id, requestor_id, created_at, id);
