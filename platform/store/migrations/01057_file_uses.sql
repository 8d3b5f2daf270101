-- +goose NO TRANSACTION
-- +goose Up
-- An object that refers to a file, at the home of the object, which can differ from that of the file. place_id is the
-- community, channel or wall that the object belongs to, and author_id its author; both can be empty.
CREATE TABLE IF NOT EXISTS file_uses (
  home      TEXT NOT NULL,
  file_id   TEXT NOT NULL,
  object_id TEXT NOT NULL,
  kind      TEXT NOT NULL,
  author_id TEXT NOT NULL,
  place_id  TEXT NOT NULL{{region}},
  CONSTRAINT file_uses_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT file_uses_pkey PRIMARY KEY (home, file_id, object_id, kind)
){{locality}};
CREATE INDEX IF NOT EXISTS file_uses_by_object ON file_uses (home, object_id, kind, file_id);
CREATE INDEX IF NOT EXISTS file_uses_by_place ON file_uses (home, place_id, file_id, object_id, kind);
