-- +goose NO TRANSACTION
-- +goose Up
-- Which communities stand in a category. home is the community's; created_at and name_key repeat the community's, so
-- that a category's list needs no sort.
CREATE TABLE IF NOT EXISTS community_categories (
  home         TEXT        NOT NULL,
  category_id  TEXT        NOT NULL,
  community_id TEXT        NOT NULL,
  name_key     TEXT        NOT NULL,
  created_at   TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT community_categories_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT community_categories_pkey PRIMARY KEY (home, category_id, community_id)
){{locality}};
CREATE INDEX IF NOT EXISTS community_categories_by_created ON community_categories (home, category_id, created_at, community_id);
CREATE INDEX IF NOT EXISTS community_categories_by_name ON community_categories (home, category_id, name_key, community_id);
CREATE INDEX IF NOT EXISTS community_categories_by_community ON community_categories (home, community_id);
