-- +goose NO TRANSACTION
-- +goose Up
-- The rules of the allow list and the block list. Every home has all of them; of two changes the newer wins everywhere, and so a
-- deleted rule stays for a while.
CREATE TABLE IF NOT EXISTS moderation_rules (
  home                TEXT        NOT NULL,
  list                TEXT        NOT NULL,
  id                  TEXT        NOT NULL,
  regex               TEXT        NOT NULL,
  is_plain            BOOL        NOT NULL,
  is_match_exact_word BOOL        NOT NULL,
  is_enabled          BOOL        NOT NULL,
  is_deleted          BOOL        NOT NULL,
  created_at          TIMESTAMPTZ NOT NULL,
  changed_at          TIMESTAMPTZ NOT NULL,
  origin              TEXT        NOT NULL{{region}},
  CONSTRAINT moderation_rules_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT moderation_rules_list_check CHECK (list IN ('allow', 'block')),
  CONSTRAINT moderation_rules_pkey PRIMARY KEY (home, list, id)
){{locality}};
CREATE INDEX IF NOT EXISTS moderation_rules_by_created ON moderation_rules (home, is_deleted, list, created_at, id);
CREATE INDEX IF NOT EXISTS moderation_rules_deleted ON moderation_rules (home, is_deleted, changed_at);
