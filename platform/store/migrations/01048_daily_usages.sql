-- +goose NO TRANSACTION
-- +goose Up
-- What a user has created on a day (in UTC), at the home of the user.
CREATE TABLE IF NOT EXISTS daily_usages (
  home    TEXT   NOT NULL,
  user_id TEXT   NOT NULL,
  kind    TEXT   NOT NULL,
  day     TEXT   NOT NULL,
  used    BIGINT NOT NULL{{region}},
  CONSTRAINT daily_usages_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT daily_usages_pkey PRIMARY KEY (home, user_id, day, kind)
){{locality}};
CREATE INDEX IF NOT EXISTS daily_usages_by_day ON daily_usages (home, day);
