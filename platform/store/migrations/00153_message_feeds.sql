-- +goose NO TRANSACTION
-- +goose Up
-- Where a message feed stands: the segment of its last message. It lives where its id says.
CREATE TABLE IF NOT EXISTS message_feeds (
  home         TEXT        NOT NULL,
  id           TEXT        NOT NULL,
  entity_id    TEXT        NOT NULL,
  last_segment BIGINT      NOT NULL,
  created_at   TIMESTAMPTZ NOT NULL,
  updated_at   TIMESTAMPTZ NOT NULL,
  deleted_at   TIMESTAMPTZ{{region}},
  CONSTRAINT message_feeds_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT message_feeds_pkey PRIMARY KEY (home, id)
){{locality}};
