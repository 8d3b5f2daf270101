-- +goose NO TRANSACTION
-- +goose Up
-- New networks start in secure mode. A network that already has users keeps the mode in which its apps work.
INSERT INTO settings (home, name, value, changed_at, origin)
  SELECT 'us', 'isSecureModeEnabled', 'false'::JSONB, '1970-01-01 00:00:00+00:00', 'us' WHERE EXISTS (SELECT 1 FROM users)
  ON CONFLICT (home, name) DO NOTHING;
