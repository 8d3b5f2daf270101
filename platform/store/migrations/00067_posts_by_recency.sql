-- +goose NO TRANSACTION
-- +goose Up
-- Every post that feeds show, newest last, with what decides whether a feed shows it: one walk of this index finds a page
-- of a feed of thousands of accounts, where a look at each account would not.
CREATE INDEX IF NOT EXISTS posts_by_recency ON posts (home, created_at, id, target_id, author_id, structure_type)
  WHERE is_parent AND feed_type = 'published' AND deleted_at IS NULL;
