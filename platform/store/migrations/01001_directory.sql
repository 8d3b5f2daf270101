-- +goose NO TRANSACTION
-- +goose Up
-- Who a client's user id is: a keyed hash, so that no personal data stands in a key. The row at the home that the hash
-- names decides; rows at other homes are copies made by those who looked it up.
CREATE TABLE IF NOT EXISTS directory (
  home       TEXT        NOT NULL,
  user_hash  BYTEA       NOT NULL,
  user_id    TEXT        NOT NULL,
  created_at TIMESTAMPTZ NOT NULL{{region}},
  CONSTRAINT directory_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT directory_pkey PRIMARY KEY (home, user_hash)
){{locality}};
