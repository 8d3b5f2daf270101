// Package testdb creates a database for each test, on a server that is shared by the tests of a process.
//
// The server is the one at PLAZA_TEST_DATABASE_URL, or one started by package devdb: CockroachDB if available, else
// PostgreSQL. A server started here exits with the test process, for whatever reason that ends, and leaves no data.
//
// PLAZA_TEST_DATABASE_POOL=1 uses databases again on PostgreSQL too, which tests that they have their original content.
package testdb

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/plaza-social/plaza/platform/devdb"
	"github.com/plaza-social/plaza/platform/narrow"
)

// urlVariable is the environment variable with the URL of the server, and poolVariable the one that demands a pool.
const (
	urlVariable  = "PLAZA_TEST_DATABASE_URL"
	poolVariable = "PLAZA_TEST_DATABASE_POOL"
)

// timeout limits tests that would hang. It allows for a busy machine on which three database nodes start.
const timeout = 3 * time.Minute

// server is the server shared by the tests of this process.
type server struct {
	url       string
	cockroach bool
	pools     bool // whether databases of templates are used again, instead of copied
	conn      *connection
}

// shared starts the server once. It is never stopped explicitly: devdb stops ephemeral servers when the process ends.
var shared = sync.OnceValues(func() (server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	s, err := StartServer(ctx)
	if err != nil {
		return server{}, err
	}
	cockroach, err := devdb.IsCockroach(ctx, s.url)
	return server{url: s.url, cockroach: cockroach, pools: cockroach || os.Getenv(poolVariable) != "", conn: &connection{url: s.url}}, err
})

// Server is a database server for the tests of several processes.
type Server struct {
	url string
	db  *devdb.DB // nil if the server existed before
}

// StartServer starts a server, unless the environment names one. The caller must call Stop.
func StartServer(ctx context.Context) (Server, error) {
	if url, _ := syscall.Getenv(urlVariable); url != "" { // os.Getenv would make the URL part of the key of cached results
		return Server{url: url}, nil
	}
	db, err := devdb.Start(ctx, devdb.Options{Ephemeral: true, TempDir: memoryDir()})
	if err != nil {
		return Server{}, err
	}
	return Server{url: db.URL(), db: db}, nil
}

// Version returns the name and version of the server, as it describes itself.
func (s Server) Version(ctx context.Context) (version string, err error) {
	conn := connection{url: s.url}
	err = conn.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		defer func() { _ = conn.Close(ctx) }()
		return conn.QueryRow(ctx, "SELECT version()").Scan(&version)
	})
	return version, err
}

// Environment returns the variables with which tests use the server, as in os.Environ.
func (s Server) Environment() []string {
	if s.db == nil {
		return nil
	}
	return []string{urlVariable + "=" + s.url}
}

// Stop stops the server if StartServer has started it.
func (s Server) Stop(ctx context.Context) error {
	if s.db == nil {
		return nil
	}
	return s.db.Stop(ctx)
}

// sharedMemory is a file system in memory on Linux, and memoryNeeded the free space that a server on it may need.
const (
	sharedMemory = "/dev/shm"
	memoryNeeded = 2 << 30
)

// memoryDir returns a folder in memory, or "" if there is none with enough space. Copying a template creates hundreds of
// files, which takes a tenth of the time there.
func memoryDir() string {
	var stat unix.Statfs_t
	if err := unix.Statfs(sharedMemory, &stat); err != nil || stat.Bavail*narrow.To[uint64](stat.Bsize) < memoryNeeded {
		return ""
	}
	return sharedMemory
}

func get(t testing.TB) server {
	t.Helper()
	s, err := shared()
	require.NoError(t, err)
	return s
}

// New creates an empty database that is dropped when the test ends and returns its URL.
func New(t testing.TB) string {
	t.Helper()
	return create(t, get(t), "")
}

// Cockroach reports whether the tests run on CockroachDB instead of PostgreSQL.
func Cockroach(t testing.TB) bool {
	t.Helper()
	return get(t).cockroach
}

func newName(prefix string) string { return prefix + "_" + strings.ToLower(rand.Text()[:16]) }

// within returns a context that ends with the test or after timeout.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	t.Cleanup(cancel)
	return ctx
}

// create creates a copy of a template, or an empty database, that is dropped when the test ends.
func create(t testing.TB, s server, template string) string {
	t.Helper()
	name := newName("test")
	var url string
	require.NoError(t, s.conn.use(within(t), func(ctx context.Context, conn *pgx.Conn) (err error) {
		url, err = devdb.CloneOn(ctx, conn, s.url, name, template)
		return err
	}))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), timeout) // the test's own has ended
		defer cancel()
		require.NoError(t, s.conn.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			return devdb.DropOn(ctx, conn, name, s.cockroach)
		}))
	})
	return url
}
