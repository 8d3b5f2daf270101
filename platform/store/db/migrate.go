package db

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/region"
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

// MigrateOptions are the options of Migrate.
type MigrateOptions struct {
	// URL of the database.
	URL string
	// Identity is the NetworkIdentity of the network, which the first migration stores. A database of another network is refused
	// before anything changes. Without one, nothing is stored or checked.
	Identity string
	// Layout is the placement on CockroachDB. Localities defaults to DefaultLocalities.
	Layout
	// StatementTimeout bounds each statement; DefaultMigrationTimeout when zero.
	StatementTimeout time.Duration
	// Progress is called after each step, and repeatedly during a step that takes long; may be nil.
	Progress func(Progress)

	test migrateTest
}

// migrateTest are options that only tests change.
type migrateTest struct {
	lease   time.Duration         // of the lock; its heartbeat is a third of it
	every   time.Duration         // how often a step that takes long is reported
	connect func(*pgx.ConnConfig) // changes the configuration of the connections
}

// DefaultMigrationTimeout bounds a statement of a migration, which can create an index of a large table. A region that is
// away makes statements hang rather than fail.
const DefaultMigrationTimeout = 30 * time.Minute

func (o MigrateOptions) withDefaults() MigrateOptions {
	if o.Localities == nil {
		o.Localities = DefaultLocalities()
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	o.StatementTimeout = cmp.Or(o.StatementTimeout, DefaultMigrationTimeout)
	o.test.lease = cmp.Or(o.test.lease, 30*time.Second)
	o.test.every = cmp.Or(o.test.every, 10*time.Second)
	if o.test.connect == nil {
		o.test.connect = func(*pgx.ConnConfig) {}
	}
	return o
}

// Migrate migrates the schema to TargetVersion. It is idempotent and safe to run concurrently: one migration holds the
// lock, and the others wait for it. A migration that is interrupted can be continued by another one. On CockroachDB it
// waits until all rows are placed according to the layout, unless the nodes of the cluster have no localities.
func Migrate(ctx context.Context, opts MigrateOptions) error {
	opts = opts.withDefaults()
	db, err := openSQL(opts.URL, func(cfg *pgx.ConnConfig) {
		limitStatements(cfg, opts.StatementTimeout)
		cfg.RuntimeParams["application_name"] = "plaza-migrate"
	}, opts.test.connect)
	if err != nil {
		return err
	}
	defer db.Close()
	engine, err := engineOf(ctx, db)
	if err != nil {
		return err
	}
	if err := requireIdentity(ctx, db, opts.Identity); err != nil {
		return err
	}
	report := newReporter(opts, len(migrationNames()))
	defer report.stop()
	unlock, err := lockMigrations(ctx, db, opts, report)
	if err != nil {
		return err
	}
	defer unlock()
	return migrateLocked(ctx, db, engine, opts, report)
}

func migrateLocked(ctx context.Context, db *sql.DB, engine Engine, opts MigrateOptions, report *reporter) error {
	if err := requireIdentity(ctx, db, opts.Identity); err != nil { // another migration may have stored it
		return err
	}
	regional, err := isRegional(ctx, db, engine)
	if err != nil {
		return err
	}
	if !regional {
		opts.Localities = nil
	} else {
		report.waiting("the regions of the database")
		if err := prepareRegions(ctx, db, opts); err != nil {
			return err
		}
	}
	provider, err := newProvider(db, engine, opts.Localities)
	if err != nil {
		return err
	}
	if err := requireOwnSteps(ctx, db, provider); err != nil {
		return err
	}
	if err := requireNoGap(ctx, provider); err != nil {
		return err
	}
	if err := applyAll(ctx, provider, report); err != nil {
		return err
	}
	if err := configureQueues(ctx, db, engine); err != nil {
		return err
	}
	if err := stampIdentity(ctx, db, opts.Identity); err != nil {
		return err
	}
	if err := restrictAppendOnly(ctx, db); err != nil {
		return err
	}
	if regional {
		if err := waitForPlacement(ctx, db, opts, report); err != nil {
			return err
		}
	}
	return storeVersions(ctx, db)
}

const sqlUnknownStep = `SELECT COALESCE(min(version_id), 0) FROM goose_db_version WHERE is_applied AND version_id > 0 AND version_id < $1
	AND version_id <> ALL($2::bigint[])`

// requireOwnSteps returns an error if the database has a step before the last one of this program that the program does
// not have: it was made before the steps became a baseline, and lacks what the baseline has. Later steps are those of a
// newer version, which this one can serve.
func requireOwnSteps(ctx context.Context, db *sql.DB, provider *goose.Provider) error {
	var own []int64
	for _, source := range provider.ListSources() {
		own = append(own, source.Version)
	}
	var unknown int64
	err := db.QueryRowContext(ctx, sqlUnknownStep, TargetVersion(), own).Scan(&unknown)
	switch {
	case isUndefinedTable(err):
		return nil
	case err != nil:
		return fmt.Errorf("read the schema steps: %w", err)
	case unknown > 0:
		return fmt.Errorf("the database was made by a development version that cannot be migrated (schema step %d): use an empty database",
			unknown)
	}
	return nil
}

// requireNoGap returns an error if the database lacks a step of this program although it has a later one, because applyAll applies
// only the steps after the database's version.
func requireNoGap(ctx context.Context, provider *goose.Provider) error {
	steps, err := provider.Status(ctx)
	if err != nil {
		return fmt.Errorf("read the schema steps: %w", err)
	}
	var missing int64
	for _, step := range steps {
		switch {
		case step.State == goose.StatePending:
			missing = cmp.Or(missing, step.Source.Version)
		case missing > 0:
			return fmt.Errorf("the database has schema step %d but lacks step %d before it: restore a backup, or use an empty database",
				step.Source.Version, missing)
		}
	}
	return nil
}

func applyAll(ctx context.Context, provider *goose.Provider, report *reporter) error {
	current, err := provider.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	for i, source := range provider.ListSources() {
		if source.Version <= current {
			continue
		}
		report.begin(i+1, source.Path)
		if _, err := provider.ApplyVersion(ctx, source.Version, true); err != nil {
			return fmt.Errorf("schema step %d: %w", source.Version, err)
		}
		report.done()
	}
	return nil
}

// connectTimeout bounds connecting to one address of the database, unless its URL has a bound.
const connectTimeout = 10 * time.Second

// openSQL opens a database for statements that take as long as those of migrations. Each of configure changes the configuration
// of the connections.
func openSQL(address string, configure ...func(*pgx.ConnConfig)) (*sql.DB, error) {
	u, err := dburl.Parse(address)
	if err != nil {
		return nil, err
	}
	cfg, err := pgx.ParseConfig(u.Reveal())
	if err != nil {
		return nil, driverError(u, err)
	}
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, connectTimeout)
	limitStatements(cfg, DefaultMigrationTimeout)
	for _, f := range configure {
		f(cfg)
	}
	return sql.OpenDB(connector{stdlib.GetConnector(*cfg), u}), nil
}

func limitStatements(cfg *pgx.ConnConfig, limit time.Duration) {
	cfg.RuntimeParams["statement_timeout"] = strconv.FormatInt(limit.Milliseconds(), 10)
}

// connector opens connections. Its errors do not contain the password.
type connector struct {
	driver.Connector

	address dburl.URL
}

// Connect opens a connection.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	return conn, c.address.Clean(err)
}

// engineOf returns the engine of a database, and an error if it is older than MinimumCockroachDB.
func engineOf(ctx context.Context, db *sql.DB) (Engine, error) {
	var version string
	if err := db.QueryRowContext(ctx, versionStatement.SQL).Scan(&version); err != nil {
		return "", fmt.Errorf("read the version of the database: %w", err)
	}
	if err := checkRelease(version); err != nil {
		return "", err
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
	return goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithSlog(slog.New(slog.DiscardHandler)), goose.WithDisableGlobalRegistry(true))
}
