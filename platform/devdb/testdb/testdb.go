// Package testdb gives each test a database of its own on a server that the tests of a process share.
//
// The server is PLAZA_TEST_DATABASE_URL, or what package devdb finds: CockroachDB when there is one, else PostgreSQL. A
// server started here ends with the test process, however that ends, and leaves nothing behind.
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
)

// timeout is generous: it only ends a test that would hang, on a busy machine with three database nodes starting.
const timeout = 3 * time.Minute

// server is what the tests of this process share.
type server struct {
	url       string
	cockroach bool
}

// shared starts the server once. Nothing stops it: devdb ends an ephemeral server when its process ends.
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
	if err := unix.Statfs(sharedMemory, &stat); err != nil || stat.Bavail*uint64(stat.Bsize) < memoryNeeded {
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

// New returns the URL of an empty database that is dropped when the test ends.
func New(t testing.TB) string {
	t.Helper()
	s, name := get(t), newName("test")
	url, err := devdb.CreateDatabase(within(t), s.url, name)
	require.NoError(t, err)
	dropLater(t, s, name)
	return url
}

// Cockroach reports whether the tests run on CockroachDB rather than PostgreSQL.
func Cockroach(t testing.TB) bool {
	t.Helper()
	return get(t).cockroach
}

// Template makes databases that all start with the same content, such as a migrated schema. PostgreSQL prepares it once and
// copies it, which takes a tenth of a second; CockroachDB has no copies and prepares each. A Template is meant for a
// package variable and serves all tests of the process.
type Template struct {
	prepare func(ctx context.Context, url string) error
	once    sync.Once
	name    string
	err     error
}

// NewTemplate returns a template whose content prepare makes in an empty database. prepare must close its connections.
func NewTemplate(prepare func(ctx context.Context, url string) error) *Template {
	return &Template{prepare: prepare}
}

// New returns the URL of a database with the template's content that is dropped when the test ends.
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
	name := newName("test")
	url, err := devdb.CloneDatabase(within(t), s.url, name, tpl.name)
	require.NoError(t, err)
	dropLater(t, s, name)
	return url
}

// make prepares the template. It stays until the server ends; on a server that outlives the process it stays for good, so
// its name says what it is.
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

// within returns a context that ends with the test, or when the test would otherwise hang.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	t.Cleanup(cancel)
	return ctx
}

// dropLater drops the database when the test ends. The test's own context has ended by then.
func dropLater(t testing.TB, s server, name string) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), timeout)
		defer cancel()
		require.NoError(t, devdb.DropDatabase(ctx, s.url, name))
	})
}
