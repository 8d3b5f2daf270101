-- +goose NO TRANSACTION
-- +goose Up
-- Where the rows of a moved user are: at from_home until the state is done, and then at to_home. Every home has a copy of every
-- row, so that servers know it while other homes are unavailable. seq numbers the changes of a home.
CREATE TABLE IF NOT EXISTS user_homes (
  home      TEXT   NOT NULL,
  user_id   TEXT   NOT NULL,
  from_home TEXT   NOT NULL,
  to_home   TEXT   NOT NULL,
  state     TEXT   NOT NULL,
  ids       BIGINT NOT NULL,
  version   BIGINT NOT NULL,
  seq       BIGINT NOT NULL{{region}},
  CONSTRAINT user_homes_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT user_homes_state_check CHECK (state IN ('frozen', 'moving', 'done')),
  CONSTRAINT user_homes_pkey PRIMARY KEY (home, user_id)
){{locality}};
CREATE UNIQUE INDEX IF NOT EXISTS user_homes_by_seq ON user_homes (home, seq);
