-- +goose NO TRANSACTION
-- +goose Up
-- What a search finds an object by, at the home of the object. key is a hash, because index keys may be replicated outside of the
-- region: of a word, a hashtag or the first letters of words, together with the kind of the object. words are the words that the
-- key stands for, each after a space, with a space at the end. weight is how much of the object they are, in thousandths.
CREATE TABLE IF NOT EXISTS search_words (
  home       TEXT        NOT NULL,
  key        TEXT        NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  object_id  TEXT        NOT NULL,
  words      TEXT        NOT NULL,
  weight     BIGINT      NOT NULL{{region}},
  CONSTRAINT search_words_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT search_words_pkey PRIMARY KEY (home, key, created_at, object_id)
){{locality}};
CREATE INDEX IF NOT EXISTS search_words_by_object ON search_words (home, object_id, key);
