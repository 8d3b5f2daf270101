// Package devdb finds or starts the database of `plaza dev` and of the tests.
//
// It takes the first of: the database that PLAZA_DATABASE_URL names; a CockroachDB program (COCKROACH_BINARY, or cockroach
// in PATH), as three nodes with one region each; PostgreSQL programs of this machine, in a private folder. No production
// server is run this way.
package devdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// DatabaseName is the database that a server started here holds its data in.
const DatabaseName = "plaza"

// Engine is the kind of database behind a DB.
type Engine string

// The engines.
const (
	PostgreSQL  Engine = "postgresql"  // started here
	CockroachDB Engine = "cockroachdb" // started here
	External    Engine = "external"    // found through PLAZA_DATABASE_URL
)

// ErrNone is returned when there is no way to get a database; its text names the three ways there are.
var ErrNone = errors.New("no database found: set PLAZA_DATABASE_URL to a database, " +
	"or COCKROACH_BINARY to a cockroach program (or have cockroach in PATH), " +
	"or install the PostgreSQL server programs (in PATH or /usr/lib/postgresql/*/bin)")

// Options says which database to start.
type Options struct {
	// Dir holds the data between starts. It is made, with mode 0700, when it is not there. An ephemeral database does not
	// touch it, so it may be empty then.
	Dir string
	// Ephemeral asks for a database with no data in it that is gone after Stop, and also after this process dies. It is faster:
	// nothing waits for the disk.
	Ephemeral bool
	// TempDir is where an ephemeral database makes its folder. If it is empty, that is the system's temporary folder.
	TempDir string
	// Log gets a line for each step. Nil discards them.
	Log *slog.Logger
}

// DB is a database that is up.
type DB struct {
	engine Engine
	url    string
	stop   func(context.Context) error
	died   <-chan struct{}
	once   sync.Once
	err    error
}

// Start finds or starts the database and returns when it answers. When ctx ends before that, everything that was started
// is stopped again. Stop must be called on what Start returns.
func Start(ctx context.Context, opts Options) (*DB, error) {
	return start(ctx, opts, systemFinder())
}

func start(ctx context.Context, opts Options, find finder) (*DB, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if url := find.getenv("PLAZA_DATABASE_URL"); url != "" {
		return startExternal(ctx, opts, url)
	}
	if binary := find.cockroach(); binary != "" {
		return startIn(ctx, opts, func(dir string) (*DB, error) { return startCockroach(ctx, opts, dir, binary) })
	}
	if installs := find.postgres(); len(installs) > 0 {
		return startIn(ctx, opts, func(dir string) (*DB, error) { return startPostgres(ctx, opts, dir, installs) })
	}
	return nil, ErrNone
}

// startIn runs launch in the folder that opts ask for, and gives that folder back when launch fails.
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

// openFolder returns the folder to work in, locked against other processes, and what gives it back.
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
		return "", nil, fmt.Errorf("making the data folder: %w", err)
	}
	unlock, err := Lock(filepath.Join(dir, lockName))
	return dir, unlock, err
}

// Engine returns the kind of database.
func (db *DB) Engine() Engine { return db.engine }

// URL returns the address of the database with the password in it, as pgx reads it.
func (db *DB) URL() string { return db.url }

// CreateDatabase makes an empty database beside the one of URL and returns its URL.
func (db *DB) CreateDatabase(ctx context.Context, name string) (string, error) {
	return CreateDatabase(ctx, db.url, name)
}

// Died is closed when a server that Start started has ended, by Stop or by itself. It is nil for a database that was found.
func (db *DB) Died() <-chan struct{} { return db.died }

// Stop ends a server that Start started, waiting for its orderly end until ctx is done, and removes ephemeral data. A
// database that was only found is left alone. Later calls return what the first one did.
func (db *DB) Stop(ctx context.Context) error {
	db.once.Do(func() { db.err = db.stop(ctx) })
	return db.err
}
