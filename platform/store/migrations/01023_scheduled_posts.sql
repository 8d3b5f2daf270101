-- +goose NO TRANSACTION
-- +goose Up
-- A post that is to be published later, at the home of its target. The ids of the posts that it becomes are fixed from
-- the start; due_at is when to try, which is scheduled_at until a try fails.
CREATE TABLE IF NOT EXISTS scheduled_posts (
  home             TEXT        NOT NULL,
  id               TEXT        NOT NULL,
  lane             BIGINT      NOT NULL,
  author_id        TEXT        NOT NULL,
  author_public_id TEXT        NOT NULL,
  target_type      TEXT        NOT NULL,
  target_id        TEXT        NOT NULL,
  target_public_id TEXT        NOT NULL,
  post_ids         TEXT[]      NOT NULL,
  draft            JSONB       NOT NULL,
  mentions         JSONB       NOT NULL DEFAULT '[]',
  scheduled_at     TIMESTAMPTZ NOT NULL,
  due_at           TIMESTAMPTZ NOT NULL,
  attempts         BIGINT      NOT NULL DEFAULT 0,
  status           TEXT        NOT NULL,
  description      TEXT        NOT NULL,
  version          BIGINT      NOT NULL DEFAULT 1,
  created_at       TIMESTAMPTZ NOT NULL,
  updated_at       TIMESTAMPTZ NOT NULL,
  is_posted        BOOLEAN     NOT NULL GENERATED ALWAYS AS (status = 'posted') STORED,
  has_failed       BOOLEAN     NOT NULL GENERATED ALWAYS AS (status = 'WAIT' AND attempts > 0) STORED{{region}},
  CONSTRAINT scheduled_posts_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT scheduled_posts_status_check CHECK (status IN ('WAIT', 'posted', 'failed')),
  CONSTRAINT scheduled_posts_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS scheduled_posts_due ON scheduled_posts (home, lane, status, due_at, id);
CREATE INDEX IF NOT EXISTS scheduled_posts_of_author_by_created ON scheduled_posts (home, author_id, is_posted, created_at, id);
CREATE INDEX IF NOT EXISTS scheduled_posts_of_author_by_updated ON scheduled_posts (home, author_id, is_posted, updated_at, id);
CREATE INDEX IF NOT EXISTS scheduled_posts_by_created ON scheduled_posts (home, is_posted, created_at, id);
CREATE INDEX IF NOT EXISTS scheduled_posts_by_updated ON scheduled_posts (home, is_posted, updated_at, id);
CREATE INDEX IF NOT EXISTS scheduled_posts_failed ON scheduled_posts (home, has_failed, lane, scheduled_at, id);
-- For collecting the ids that move with a user.
CREATE INDEX IF NOT EXISTS scheduled_posts_by_target ON scheduled_posts (home, target_id, id);
