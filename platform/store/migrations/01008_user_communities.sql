-- +goose NO TRANSACTION
-- +goose Up
-- The communities of a user, at the user's home: the mirror of community_members, kept by the outbox. version is the
-- mirrored row's; the highest one stands.
CREATE TABLE IF NOT EXISTS user_communities (
  home         TEXT        NOT NULL,
  user_id      TEXT        NOT NULL,
  community_id TEXT        NOT NULL,
  state        TEXT        NOT NULL,
  version      BIGINT      NOT NULL,
  changed_at   TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT user_communities_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT user_communities_pkey PRIMARY KEY (home, user_id, community_id)
){{locality}};
