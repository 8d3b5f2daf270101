-- +goose NO TRANSACTION
-- +goose Up
-- Who belongs to a community, at the community's home; user_communities mirrors it at the user's. version counts the
-- changes of a row: a change names the version that it was decided on.
CREATE TABLE IF NOT EXISTS community_members (
  home           TEXT        NOT NULL,
  community_id   TEXT        NOT NULL,
  user_id        TEXT        NOT NULL,
  user_public_id TEXT        NOT NULL,
  name_key       TEXT        NOT NULL DEFAULT '',
  state          TEXT        NOT NULL,
  roles          TEXT[]      NOT NULL DEFAULT '{}',
  is_moderator   BOOLEAN     NOT NULL DEFAULT false,
  version        BIGINT      NOT NULL,
  joined_at      TIMESTAMPTZ NOT NULL,
  created_at     TIMESTAMPTZ NOT NULL,
  updated_at     TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT community_members_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT community_members_state_check CHECK (state IN ('member', 'left', 'removed', 'banned')),
  CONSTRAINT community_members_pkey PRIMARY KEY (home, community_id, user_id)
){{locality}};
CREATE INDEX IF NOT EXISTS community_members_by_created ON community_members (home, community_id, state, created_at, user_id);
CREATE INDEX IF NOT EXISTS community_members_by_name ON community_members (home, community_id, state, name_key, user_id);
CREATE INDEX IF NOT EXISTS community_members_moderators ON community_members (home, is_moderator, community_id, created_at, user_id);
