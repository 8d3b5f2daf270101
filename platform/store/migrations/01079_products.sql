-- +goose NO TRANSACTION
-- +goose Up
-- The catalogue of products that posts can tag. price is null without one. state is what lists filter by.
CREATE TABLE IF NOT EXISTS products (
  home           TEXT             NOT NULL,
  id             TEXT             NOT NULL,
  name           TEXT             NOT NULL,
  name_key       TEXT             NOT NULL,
  url            TEXT             NOT NULL,
  status         TEXT             NOT NULL,
  price          DOUBLE PRECISION,
  currency       TEXT             NOT NULL,
  thumbnail_url  TEXT             NOT NULL,
  thumbnail_mode TEXT             NOT NULL,
  created_at     TIMESTAMPTZ      NOT NULL,
  updated_at     TIMESTAMPTZ      NOT NULL,
  deleted_at     TIMESTAMPTZ,
  state          TEXT             NOT NULL GENERATED ALWAYS AS (CASE WHEN deleted_at IS NULL THEN status ELSE 'deleted ' || status END) STORED{{region}},
  CONSTRAINT products_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT products_status_check CHECK (status IN ('active', 'archived')),
  CONSTRAINT products_pkey PRIMARY KEY (home, id)
){{locality}};
CREATE INDEX IF NOT EXISTS products_by_name ON products (home, state, name_key, id);
CREATE INDEX IF NOT EXISTS products_by_created ON products (home, state, created_at, id);
CREATE INDEX IF NOT EXISTS products_by_updated ON products (home, state, updated_at, id);
