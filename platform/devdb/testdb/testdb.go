// Package testdb creates a database for each test, on a server that is shared by the tests of a process.
//
// The server is the one at PLAZA_TEST_DATABASE_URL, or one started by package devdb: CockroachDB if available, else
// PostgreSQL. A server started here exits with the test process, for whatever reason that ends, and leaves no data.
package testdb

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/plaza-social/plaza/platform/devdb"
	"github.com/plaza-social/plaza/platform/narrow"
)

// timeout limits tests that would hang. It allows for a busy machine on which three database nodes start.
const timeout = 3 * time.Minute

// server is the server shared by the tests of this process.
type server struct {
	url       string
	cockroach bool
}

// shared starts the server once. It is never stopped explicitly: devdb stops ephemeral servers when the process ends.
var shared = sync.OnceValues(func() (server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	url, err := serverURL(ctx)
	if err != nil {
		return server{}, err
	}
	cockroach, err := devdb.IsCockroach(ctx, url)
	return server{url: url, cockroach: cockroach}, err
})

func serverURL(ctx context.Context) (string, error) {
	if url := os.Getenv("PLAZA_TEST_DATABASE_URL"); url != "" {
		return url, nil
	}
	db, err := devdb.Start(ctx, devdb.Options{Ephemeral: true, TempDir: memoryDir()})
	if err != nil {
		return "", err
	}
	return db.URL(), nil
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

// Template creates databases with the same initial content, such as a migrated schema. PostgreSQL prepares it once and
// copies it in a tenth of a second; CockroachDB cannot copy databases and prepares each. A Template is meant for a
// package variable and is shared by all tests of the process.
type Template struct {
	prepare func(ctx context.Context, url string) error
	once    sync.Once
	name    string
	err     error
}

// NewTemplate returns a template. prepare creates the content in an empty database and must close its connections.
func NewTemplate(prepare func(ctx context.Context, url string) error) *Template {
	return &Template{prepare: prepare}
}

// New creates a database with the template's content that is dropped when the test ends and returns its URL.
func (tpl *Template) New(t testing.TB) string {
	t.Helper()
	s := get(t)
	if s.cockroach {
		url := New(t)
		require.NoError(t, tpl.prepare(within(t), url))
		return url
	}
	tpl.once.Do(func() { tpl.err = tpl.make(t, s) })
	require.NoError(t, tpl.err)
	return create(t, s, tpl.name)
}

// make prepares the template database, which exists as long as the server. On a server that outlives the process it is
// never removed, so its name is descriptive.
func (tpl *Template) make(t testing.TB, s server) error {
	t.Helper()
	tpl.name = newName("test_template")
	url, err := devdb.CreateDatabase(within(t), s.url, tpl.name)
	if err != nil {
		return err
	}
	return tpl.prepare(within(t), url)
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
	url, err := devdb.CloneDatabase(within(t), s.url, name, template)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), timeout) // the test's own has ended
		defer cancel()
		require.NoError(t, devdb.DropDatabase(ctx, s.url, name))
	})
	return url
}
