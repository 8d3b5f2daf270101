package testdb

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb"
	"github.com/plaza-social/plaza/platform/narrow"
)

// Template creates databases with the same initial content, such as a migrated schema. PostgreSQL prepares it once for all
// processes that use the server, and copies it in a tenth of a second. CockroachDB cannot copy databases: there, tests use one after the
// other. A Template is meant for a package variable and is shared by all tests of the process.
type Template struct {
	name    string
	lock    int64
	prepare func(ctx context.Context, url string) error
	once    sync.Once
	err     error
}

// NewTemplate returns a template. content identifies the content: on the same server, templates with the same string are
// one database, so the string must differ when the content does. prepare creates the content in an empty database and
// must close its connections.
func NewTemplate(content string, prepare func(ctx context.Context, url string) error) *Template {
	sum := sha256.Sum256([]byte(content))
	return &Template{
		name:    "test_template_" + hex.EncodeToString(sum[:8]),
		lock:    narrow.To[int64](binary.BigEndian.Uint64(sum[:8]) >> 1),
		prepare: prepare,
	}
}

// New returns the URL of a database with the template's content, which is dropped or used again when the test ends.
func (tpl *Template) New(t testing.TB) string {
	t.Helper()
	s := get(t)
	if s.pools {
		return tpl.borrow(t, s)
	}
	tpl.once.Do(func() { tpl.err = tpl.ensure(within(t), s) })
	require.NoError(t, tpl.err)
	return create(t, s, tpl.name)
}

// ensure prepares the template database unless it exists. Other processes that need it wait. It exists as long as the
// server.
func (tpl *Template) ensure(ctx context.Context, s server) error {
	return s.conn.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", tpl.lock); err != nil {
			return err
		}
		defer func() { _, _ = conn.Exec(ctx, "SELECT pg_advisory_unlock($1)", tpl.lock) }() // ends with the connection at the latest
		var exists bool
		if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", tpl.name).Scan(&exists); err != nil || exists {
			return err
		}
		return tpl.make(ctx, s, conn)
	})
}

// make prepares the template database under another name first, so that a database with its name is complete.
func (tpl *Template) make(ctx context.Context, s server, conn *pgx.Conn) error {
	unfinished := newName("test_unfinished")
	url, err := devdb.CloneOn(ctx, conn, s.url, unfinished, "")
	if err != nil {
		return err
	}
	if err := tpl.prepare(ctx, url); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "ALTER DATABASE "+unfinished+" RENAME TO "+tpl.name)
	return err
}
