-- +goose NO TRANSACTION
-- +goose Up
-- The edit of an approved post or comment that waits for approval, at most one of each. Columns are as in posts and
-- comments; attachments are those after the edit. It is deleted when it is approved or declined.
CREATE TABLE IF NOT EXISTS pending_edits (
  home           TEXT        NOT NULL,
  reference_id   TEXT        NOT NULL,
  reference_type TEXT        NOT NULL,
  target_id      TEXT        NOT NULL,
  author_id      TEXT        NOT NULL,
  data           JSONB       NOT NULL,
  metadata       JSONB       NOT NULL,
  mentionees     JSONB       NOT NULL,
  attachments    JSONB       NOT NULL,
  tags           TEXT[]      NOT NULL,
  hashtags       TEXT[]      NOT NULL,
  created_at     TIMESTAMPTZ NOT NULL,
  -- The links and products in the text, as a JSON object.
  annotations    JSONB       NOT NULL DEFAULT '{}'{{region}},
  CONSTRAINT pending_edits_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT pending_edits_reference_type_check CHECK (reference_type IN ('post', 'comment')),
  CONSTRAINT pending_edits_pkey PRIMARY KEY (home, reference_id)
){{locality}};
CREATE INDEX IF NOT EXISTS pending_edits_by_target ON pending_edits (home, target_id, created_at, reference_id);
