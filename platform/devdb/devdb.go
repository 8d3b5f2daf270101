// Package devdb finds or starts the database of `plaza dev` and of the tests.
//
// It uses the first available of: the database at PLAZA_DATABASE_URL; CockroachDB (COCKROACH_BINARY, or cockroach in
// PATH), as three nodes in one region each, or as a single node without a region where memory is short; PostgreSQL programs of this
// machine, with data in a private directory. It is not meant for production.
package devdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/plaza-social/plaza/platform/dburl"
)

// DatabaseName is the name of the database on servers started by this package.
const DatabaseName = "plaza"

// Engine is the kind of database behind a DB.
type Engine string

// The engines.
const (
	PostgreSQL  Engine = "postgresql"  // started here
	CockroachDB Engine = "cockroachdb" // started here
	External    Engine = "external"    // found through PLAZA_DATABASE_URL
)

// ErrNone is returned if no database is available. Its text lists the options.
var ErrNone = errors.New("no database found: set PLAZA_DATABASE_URL to the URL of a database, " +
	"or COCKROACH_BINARY to the path of cockroach (or put cockroach in PATH), " +
	"or install the PostgreSQL server programs (in PATH or /usr/lib/postgresql/*/bin)")

// Options configures Start.
type Options struct {
	// Dir is the directory of the data. It is created with mode 0700 if it does not exist. Ephemeral databases do not
	// use it, so it may be empty for them.
	Dir string
	// Ephemeral requests an empty database that is removed by Stop and also when this process dies. It is faster,
	// because it does not sync to disk.
	Ephemeral bool
	// TempDir is the parent of the directory of an ephemeral database; empty for the system's directory of temporary files.
	TempDir string
	// Settings are settings of PostgreSQL in addition to those of this package, such as "log_statement=all". Other engines
	// ignore them.
	Settings []string
	// Log logs each step; nil discards the log.
	Log *slog.Logger
}

// DB is a running database.
type DB struct {
	engine Engine
	url    string
	stop   func(context.Context) error
	died   <-chan struct{}
	once   sync.Once
	err    error
}

// Start finds or starts a database and returns when it responds. If ctx ends before that, everything that was started
// is stopped. The caller must call Stop.
func Start(ctx context.Context, opts Options) (*DB, error) {
	return start(ctx, opts, systemFinder())
}

func start(ctx context.Context, opts Options, find finder) (*DB, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if text := strings.TrimSpace(find.getenv("PLAZA_DATABASE_URL")); text != "" {
		address, err := dburl.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("PLAZA_DATABASE_URL: %w", err)
		}
		return startExternal(ctx, opts, address)
	}
	if find.cockroach() != "" {
		return startIn(ctx, opts, func(dir string) (*DB, error) { return startCockroach(ctx, opts, dir, find) })
	}
	if installs := find.postgres(); len(installs) > 0 {
		return startIn(ctx, opts, func(dir string) (*DB, error) { return startPostgres(ctx, opts, dir, installs) })
	}
	return nil, ErrNone
}

// startIn calls launch with the directory that opts specify, and releases the directory if launch fails.
func startIn(ctx context.Context, opts Options, launch func(dir string) (*DB, error)) (*DB, error) {
	dir, release, err := openFolder(opts)
	if err != nil {
		return nil, err
	}
	db, err := launch(dir)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	stopServer := db.stop
	db.stop = func(ctx context.Context) error { return errors.Join(stopServer(ctx), release()) }
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, db.Stop(context.WithoutCancel(ctx)))
	}
	return db, nil
}

// openFolder returns the directory to use, locked against other processes, and a function that releases it.
func openFolder(opts Options) (dir string, release func() error, err error) {
	if opts.Ephemeral {
		dir, err = os.MkdirTemp(opts.TempDir, "plaza-db-")
		return dir, func() error { return os.RemoveAll(dir) }, err
	}
	dir, err = filepath.Abs(opts.Dir)
	if err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("creating the data directory: %w", err)
	}
	unlock, err := Lock(filepath.Join(dir, lockName))
	return dir, unlock, err
}

// Engine returns the kind of database.
func (db *DB) Engine() Engine { return db.engine }

// URL returns the URL of the database including the password, for pgx.
func (db *DB) URL() string { return db.url }

// Died returns a channel that is closed when a server started by Start has exited, whether by Stop or not. It is nil
// for an external database.
func (db *DB) Died() <-chan struct{} { return db.died }

// Stop stops a server started by Start, cleanly unless ctx ends before, and removes ephemeral data. It does not stop
// external databases. Further calls return the result of the first.
func (db *DB) Stop(ctx context.Context) error {
	db.once.Do(func() { db.err = db.stop(ctx) })
	return db.err
}
