-- +goose NO TRANSACTION
-- +goose Up
-- The roles that administrators made, a row of each home; the newest change wins everywhere. The built-in ones have no rows.
CREATE TABLE IF NOT EXISTS roles (
  home         TEXT        NOT NULL,
  id           TEXT        NOT NULL,
  display_name TEXT        NOT NULL,
  permissions  TEXT[]      NOT NULL,
  created_at   TIMESTAMPTZ NOT NULL,
  updated_at   TIMESTAMPTZ NOT NULL,
  deleted_at   TIMESTAMPTZ,
  changed_at   TIMESTAMPTZ NOT NULL,
  origin       TEXT        NOT NULL{{region}},
  CONSTRAINT roles_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT roles_pkey PRIMARY KEY (home, id)
){{locality}};
