package store_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// open opens a store on url for the duration of the test.
func open(t testing.TB, url string, change ...func(*db.Config)) *store.Store {
	t.Helper()
	cfg := db.Config{URLs: map[region.Code]string{"": url}, Log: slog.New(slog.DiscardHandler), Sent: func(sent []db.Queued) {
		if err := db.CheckLocks(sent); err != nil {
			t.Error(err)
		}
	}}
	for _, c := range change {
		c(&cfg)
	}
	s, err := store.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// openNew opens a store on a new database.
func openNew(t testing.TB, change ...func(*db.Config)) *store.Store {
	t.Helper()
	return open(t, dbtest.New(t), change...)
}

// connect returns a connection that does not belong to a pool of the store.
func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// run runs a gathering.
func run(t testing.TB, r *store.ReadBatch) {
	t.Helper()
	require.NoError(t, r.Run(t.Context()))
}

// commit runs a transaction.
func commit(t testing.TB, w *store.Tx) {
	t.Helper()
	require.NoError(t, w.Commit(t.Context()))
}

// refused is the error of guards in tests.
var refused = fail.New(fail.CodeForbidden, "not you")
