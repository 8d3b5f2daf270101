package db

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/migrations"
)

// Engine is a database system.
type Engine string

// The engines. CockroachDB is used in production. PostgreSQL runs the same SQL without the placement clauses.
const (
	PostgreSQL  Engine = "postgresql"
	CockroachDB Engine = "cockroachdb"
)

// DefaultLocalities returns the default database regions by home.
func DefaultLocalities() map[region.Code]string {
	return map[region.Code]string{region.US: "us-east1", region.EU: "europe-west1", region.SG: "asia-southeast1"}
}

// RenderedMigration is one schema migration rendered for an engine.
type RenderedMigration struct {
	Version int64
	Name    string
	SQL     string
}

// RenderedMigrations returns all schema migrations for engine in order. Each is one statement.
func RenderedMigrations(engine Engine) []RenderedMigration {
	files, err := renderFiles(engine, DefaultLocalities())
	if err != nil {
		panic(err) // the files are embedded and tested
	}
	var all []RenderedMigration
	for _, name := range migrationNames() {
		version, err := goose.NumericComponent(name)
		if err != nil {
			panic(err)
		}
		_, body, _ := strings.Cut(string(files[name].Data), "-- +goose Up\n")
		all = append(all, RenderedMigration{Version: version, Name: strings.TrimSuffix(name, ".sql"), SQL: body})
	}
	return all
}

// TargetVersion returns the schema version that this program requires.
func TargetVersion() int64 { return migrations.Target() }

func migrationNames() []string { return migrations.Names() }

func renderFiles(engine Engine, localities map[region.Code]string) (fstest.MapFS, error) {
	regionColumn, locality := placementClauses(engine, localities)
	out := fstest.MapFS{}
	for _, name := range migrationNames() {
		raw, err := migrations.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		raw = bytes.ReplaceAll(raw, []byte("{{region}}"), []byte(regionColumn))
		raw = bytes.ReplaceAll(raw, []byte("{{locality}}"), []byte(locality))
		out[name] = &fstest.MapFile{Data: raw}
	}
	return out, nil
}

// placementClauses returns the column and the table clause that place a row in its home. The CASE has no ELSE, so that
// inserting a row of an unknown home fails instead of storing it in another region.
func placementClauses(engine Engine, localities map[region.Code]string) (regionColumn, locality string) {
	if engine != CockroachDB {
		return "", ""
	}
	var cases strings.Builder
	for _, code := range region.All() {
		fmt.Fprintf(&cases, " WHEN home = '%s' THEN '%s'", code, strings.ReplaceAll(localities[code], "'", "''"))
	}
	return ",\n  region crdb_internal_region NOT VISIBLE NOT NULL AS (CASE" + cases.String() + " END) STORED",
		" LOCALITY REGIONAL BY ROW AS region"
}

// MigrateOptions are the options of Migrate.
type MigrateOptions struct {
	// URL of the database.
	URL string
	// Layout is the placement on CockroachDB. Localities defaults to DefaultLocalities.
	Layout
	// Progress is called after each migration; may be nil.
	Progress func(done, total int, name string)
}

// Migrate migrates the schema to TargetVersion. It is idempotent and safe to run concurrently: a lock row serializes
// migrations. On CockroachDB it waits until all rows are placed according to the layout.
func Migrate(ctx context.Context, opts MigrateOptions) error {
	if opts.Localities == nil {
		opts.Localities = DefaultLocalities()
	}
	if opts.Progress == nil {
		opts.Progress = func(int, int, string) {}
	}
	db, err := openSQL(opts.URL)
	if err != nil {
		return err
	}
	defer db.Close()
	engine, err := engineOf(ctx, db)
	if err != nil {
		return err
	}
	if engine == CockroachDB {
		if err := prepareRegions(ctx, db, opts); err != nil {
			return err
		}
	}
	provider, err := newProvider(db, engine, opts.Localities)
	if err != nil {
		return err
	}
	if err := applyAll(ctx, provider, opts.Progress); err != nil {
		return err
	}
	if err := restrictAppendOnly(ctx, db); err != nil {
		return err
	}
	if engine == CockroachDB {
		return waitForPlacement(ctx, db, opts)
	}
	return nil
}

func applyAll(ctx context.Context, provider *goose.Provider, progress func(int, int, string)) error {
	sources := provider.ListSources()
	current, err := provider.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	for i, source := range sources {
		if source.Version <= current {
			continue
		}
		if _, err := provider.UpTo(ctx, source.Version); err != nil {
			return fmt.Errorf("schema step %d: %w", source.Version, err)
		}
		progress(i+1, len(sources), source.Path)
	}
	return nil
}

// MigrationStatus returns the schema version of the database, 0 if there is no schema, and the one that the program
// requires.
func MigrationStatus(ctx context.Context, address string) (current, target int64, err error) {
	db, err := openSQL(address)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, sqlSchemaVersion).Scan(&current)
	if isUndefinedTable(err) {
		return 0, TargetVersion(), nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read the schema version: %w", err)
	}
	return current, TargetVersion(), nil
}

// sqlSchemaVersion reads goose's table, which has no home column.
const sqlSchemaVersion = `SELECT COALESCE(max(version_id), 0) FROM goose_db_version WHERE is_applied`

func openSQL(address string) (*sql.DB, error) {
	cfg, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, errors.New("the address is not a database URL") // pgx's error contains the password
	}
	return stdlib.OpenDB(*cfg), nil
}

func engineOf(ctx context.Context, db *sql.DB) (Engine, error) {
	var version string
	if err := db.QueryRowContext(ctx, "SELECT version()").Scan(&version); err != nil {
		return "", fmt.Errorf("read the version of the database: %w", err)
	}
	if strings.Contains(version, "CockroachDB") {
		return CockroachDB, nil
	}
	return PostgreSQL, nil
}

func newProvider(db *sql.DB, engine Engine, localities map[region.Code]string) (*goose.Provider, error) {
	files, err := renderFiles(engine, localities)
	if err != nil {
		return nil, err
	}
	// Session lockers use advisory locks, which have no effect on CockroachDB.
	locker, err := lock.NewPostgresTableLocker()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, files, goose.WithLocker(locker),
		goose.WithSlog(slog.New(slog.DiscardHandler)), goose.WithDisableGlobalRegistry(true))
}
