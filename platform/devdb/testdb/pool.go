package testdb

import (
	"cmp"
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb"
)

// A pool of databases serves templates on an engine that cannot copy databases: migrating one on CockroachDB takes up to a
// minute. A database whose test has ended gets its original rows back and serves later tests, also those of other processes:
// the table of free databases is in the database of the server's URL.
const (
	createPool = `CREATE TABLE IF NOT EXISTS test_pool (template TEXT, name TEXT, shape TEXT NOT NULL, PRIMARY KEY (template, name))`
	takePooled = `DELETE FROM test_pool WHERE template = $1 AND name = (SELECT min(name) FROM test_pool WHERE template = $1) RETURNING name,
		shape`
	countFree = `SELECT count(*) FROM test_pool WHERE template = $1`
	addPooled = `INSERT INTO test_pool (template, name, shape) VALUES ($1, $2, $3)`
)

// pooled is a database of the pool.
type pooled struct {
	name  string
	url   string
	shape string // see shapeOf
}

// borrow returns the URL of a database with the template's content, which goes back to the pool when the test ends. If the
// test failed, or changed more than rows, the database is dropped instead.
func (tpl *Template) borrow(t testing.TB, s server) string {
	t.Helper()
	d, err := tpl.take(within(t), s)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), timeout) // the test's own has ended
		defer cancel()
		require.NoError(t, tpl.giveBack(ctx, s, d, t.Failed()))
	})
	return d.url
}

// take returns a free database, or a new one.
func (tpl *Template) take(ctx context.Context, s server) (pooled, error) {
	var d pooled
	err := s.conn.use(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
		if _, err := conn.Exec(ctx, createPool); err != nil && !createdMeanwhile(err) {
			return err
		}
		if d, err = tpl.takeFree(ctx, conn); err != nil {
			return err
		}
		d.name = cmp.Or(d.name, newName("test_pooled"))
		d.url, err = devdb.CloneOn(ctx, conn, s.url, d.name, "") // creates it unless it exists
		return err
	})
	if err != nil || d.shape != "" {
		return d, err
	}
	return tpl.fill(ctx, d)
}

// takeFree returns a free database, or none. If another process takes the one that it has found, it looks for the next.
func (tpl *Template) takeFree(ctx context.Context, conn *pgx.Conn) (pooled, error) {
	for {
		var d pooled
		err := conn.QueryRow(ctx, takePooled, tpl.name).Scan(&d.name, &d.shape)
		if !errors.Is(err, pgx.ErrNoRows) {
			return d, err
		}
		var free int
		if err := conn.QueryRow(ctx, countFree, tpl.name).Scan(&free); err != nil || free == 0 {
			return pooled{}, err
		}
	}
}

// fill prepares an empty database.
func (tpl *Template) fill(ctx context.Context, d pooled) (pooled, error) {
	if err := tpl.prepare(ctx, d.url); err != nil {
		return d, err
	}
	conn, err := pgx.Connect(ctx, d.url)
	if err != nil {
		return d, err
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := keepOriginals(ctx, conn); err != nil {
		return d, err
	}
	d.shape, err = shapeOf(ctx, conn)
	return d, err
}

// giveBack gives the database its original rows and adds it to the free ones, or drops it.
func (tpl *Template) giveBack(ctx context.Context, s server, d pooled, failed bool) error {
	restored := false
	if !failed {
		var err error
		if restored, err = d.restore(ctx); err != nil {
			return err
		}
	}
	return s.conn.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if !restored {
			return devdb.DropOn(ctx, conn, d.name, s.cockroach)
		}
		_, err := conn.Exec(ctx, addPooled, tpl.name, d.name, d.shape)
		return err
	})
}

// createdMeanwhile reports whether another session has created the same object at the same time.
func createdMeanwhile(err error) bool {
	const uniqueViolation, duplicateTable = "23505", "42P07"
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pgErr.Code == uniqueViolation || pgErr.Code == duplicateTable)
}
