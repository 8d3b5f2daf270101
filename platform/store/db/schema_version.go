package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/plaza-social/plaza/platform/region"
)

// The version of the schema is stored at each home. goose's table of steps is in one region, and servers of the others
// must start while that region is away; only migrations need it.
var (
	schemaVersionRead   = Register("schemaVersions.byHome", `SELECT version FROM schema_versions WHERE home = $1`)
	schemaVersionUpsert = Register("schemaVersions.upsert", `INSERT INTO schema_versions (home, version) VALUES ($1, $2::bigint)
		ON CONFLICT (home) DO UPDATE SET version = excluded.version WHERE schema_versions.version < excluded.version`)
)

const sqlLastStep = `SELECT COALESCE(max(version_id), 0) FROM goose_db_version WHERE is_applied`

// MigrationStatus returns the schema version of the database, 0 if there is no schema, and the one that the program
// requires. The database has a version once all of its homes have it.
func MigrationStatus(ctx context.Context, address string) (current, target int64, err error) {
	db, err := openSQL(address)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	target = TargetVersion()
	if current, err = oneVersion(ctx, db, sqlLastStep); err != nil {
		return 0, 0, err
	}
	for _, home := range region.All() {
		version, err := oneVersion(ctx, db, schemaVersionRead.SQL, string(home))
		if err != nil {
			return 0, 0, err
		}
		if version < target {
			current = min(current, version)
		}
	}
	return current, target, nil
}

// oneVersion returns the version that a query selects, 0 if its table or the row does not exist.
func oneVersion(ctx context.Context, db *sql.DB, query string, args ...any) (version int64, err error) {
	err = db.QueryRowContext(ctx, query, args...).Scan(&version)
	if isUndefinedTable(err) || errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the schema version: %w", err)
	}
	return version, nil
}

// storeVersions sets the schema version of all homes to that of the program, unless it is newer.
func storeVersions(ctx context.Context, db *sql.DB) error {
	for _, home := range region.All() {
		if _, err := db.ExecContext(ctx, schemaVersionUpsert.SQL, string(home), TargetVersion()); err != nil {
			return fmt.Errorf("store the schema version of %s: %w", home, err)
		}
	}
	return nil
}
