-- +goose NO TRANSACTION
-- +goose Up
-- Who belongs to a channel, belonged to it or is banned from it, at the channel's home. version counts the changes of a row: a
-- change names the version that it was decided on. How far a user has read is in the user's markers, at the user's home.
CREATE TABLE IF NOT EXISTS channel_users (
  home           TEXT        NOT NULL,
  channel_id     TEXT        NOT NULL,
  user_id        TEXT        NOT NULL,
  user_public_id TEXT        NOT NULL,
  name_key       TEXT        NOT NULL,
  membership     TEXT        NOT NULL,
  roles          TEXT[]      NOT NULL DEFAULT '{}',
  is_moderator   BOOL        NOT NULL,
  muted_until    TIMESTAMPTZ,
  version        BIGINT      NOT NULL,
  joined_at      TIMESTAMPTZ NOT NULL,
  created_at     TIMESTAMPTZ NOT NULL,
  updated_at     TIMESTAMPTZ NOT NULL,
  has_mute       BOOLEAN     NOT NULL GENERATED ALWAYS AS (muted_until IS NOT NULL) STORED{{region}},
  CONSTRAINT channel_users_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT channel_users_membership_check CHECK (membership IN ('member', 'banned', 'none')),
  CONSTRAINT channel_users_pkey PRIMARY KEY (home, channel_id, user_id)
){{locality}};
CREATE INDEX IF NOT EXISTS channel_users_by_user ON channel_users (home, membership, user_id, channel_id);
CREATE INDEX IF NOT EXISTS channel_users_by_created ON channel_users (home, channel_id, membership, created_at, user_id);
CREATE INDEX IF NOT EXISTS channel_users_by_name ON channel_users (home, channel_id, membership, name_key, user_id);
CREATE INDEX IF NOT EXISTS channel_users_moderators ON channel_users (home, is_moderator, channel_id, created_at, user_id);
CREATE INDEX IF NOT EXISTS channel_users_muted ON channel_users (home, has_mute, channel_id, created_at, user_id);
