package store

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

// Engine is a database that the schema can be rendered for.
type Engine string

// The engines. CockroachDB is production; PostgreSQL runs the same text with the region holes empty.
const (
	PostgreSQL  Engine = "postgresql"
	CockroachDB Engine = "cockroachdb"
)

// DefaultLocalities are the database region names of each home where nothing else is configured.
func DefaultLocalities() map[region.Code]string {
	return map[region.Code]string{region.US: "us-east1", region.EU: "europe-west1", region.SG: "asia-southeast1"}
}

// RenderedMigration is one schema step as an engine gets it.
type RenderedMigration struct {
	Version int64
	Name    string
	SQL     string
}

// RenderedMigrations returns every schema step for engine, in order, one statement each.
func RenderedMigrations(engine Engine) []RenderedMigration {
	files, err := renderFiles(engine, DefaultLocalities())
	if err != nil {
		panic(err) // the files are embedded: a broken one is a broken program
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

// TargetVersion is the schema version that this program needs.
func TargetVersion() int64 { return migrations.Target() }

func migrationNames() []string { return migrations.Names() }

func renderFiles(engine Engine, localities map[region.Code]string) (fstest.MapFS, error) {
	regionHole, localityHole := holes(engine, localities)
	out := fstest.MapFS{}
	for _, name := range migrationNames() {
		raw, err := migrations.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		raw = bytes.ReplaceAll(raw, []byte("{{region}}"), []byte(regionHole))
		raw = bytes.ReplaceAll(raw, []byte("{{locality}}"), []byte(localityHole))
		out[name] = &fstest.MapFile{Data: raw}
	}
	return out, nil
}

// holes returns what pins a row to its home. The CASE has no ELSE: a home that no region stands for fails instead of
// storing somebody's data elsewhere.
func holes(engine Engine, localities map[region.Code]string) (regionHole, localityHole string) {
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

// MigrateOptions says what to migrate.
type MigrateOptions struct {
	// URL of the database.
	URL string
	// Layout is where CockroachDB keeps rows; without Localities those of DefaultLocalities.
	Layout
	// Progress is told of each step when it is done; may be nil.
	Progress func(done, total int, name string)
}

// Migrate brings the schema to TargetVersion. It may run again, and several may run at once: a lease row lets one work.
// On CockroachDB it returns when every table's rows are pinned where Localities says.
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

// MigrationStatus returns the version of the database's schema (0 when there is none) and the one that the program needs.
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

// sqlSchemaVersion reads goose's own table, which is not one of ours: it has no home.
const sqlSchemaVersion = `SELECT COALESCE(max(version_id), 0) FROM goose_db_version WHERE is_applied`

const stateUndefinedTable = "42P01"

func isUndefinedTable(err error) bool { return sqlState(err) == stateUndefinedTable }

func openSQL(address string) (*sql.DB, error) {
	cfg, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, errors.New("the address is not a database URL") // pgx's text would show the password
	}
	return stdlib.OpenDB(*cfg), nil
}

func engineOf(ctx context.Context, db *sql.DB) (Engine, error) {
	var version string
	if err := db.QueryRowContext(ctx, "SELECT version()").Scan(&version); err != nil {
		return "", fmt.Errorf("ask the database what it is: %w", err)
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
	// A table locker, because session lockers rest on advisory locks, which exclude nobody on CockroachDB.
	locker, err := lock.NewPostgresTableLocker()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, files, goose.WithLocker(locker),
		goose.WithSlog(slog.New(slog.DiscardHandler)), goose.WithDisableGlobalRegistry(true))
}
