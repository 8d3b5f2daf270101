package db_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// patience is how long tests wait for what must happen. Only a test that fails waits that long.
const patience = 2 * time.Minute

// open opens a DB on url for the duration of the test. Its time limit is patience: calls that must fail have shorter limits of
// their own.
func open(t testing.TB, url string, change ...func(*db.Config)) *db.DB {
	t.Helper()
	cfg := db.Config{URLs: map[region.Code]string{"": url}, Log: slog.New(slog.DiscardHandler), StatementTimeout: patience}
	for _, c := range change {
		c(&cfg)
	}
	d, err := db.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d
}

// openNew opens a DB on a new database.
func openNew(t testing.TB, change ...func(*db.Config)) *db.DB {
	t.Helper()
	return open(t, dbtest.New(t), change...)
}

// connect returns a connection that does not belong to a pool of the DB.
func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// raw returns an unregistered statement.
func raw(text string) *db.Statement { return &db.Statement{SQL: text} }

// scanRow returns a scan function that reads one row.
func scanRow(into ...any) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		if !rows.Next() {
			return rows.Err()
		}
		return rows.Scan(into...)
	}
}

// run runs a batch.
func run(t testing.TB, b *db.Batch) {
	t.Helper()
	require.NoError(t, b.Run(t.Context()))
}

// commit commits a transaction.
func commit(t testing.TB, w *db.Tx) {
	t.Helper()
	require.NoError(t, w.Commit(t.Context()))
}
