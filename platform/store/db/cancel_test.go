package db_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// TestCanceledCallsKeepTheConnection cancels calls whose statements have begun. The connection stays usable, unless the statement
// runs on for long.
func TestCanceledCallsKeepTheConnection(t *testing.T) {
	if testdb.Cockroach(t) {
		t.Skip("CockroachDB has no advisory locks")
	}
	const key = 1
	url := dbtest.New(t)
	d := open(t, url, func(c *db.Config) { c.PoolSize = 1 })
	other := connect(t, url)
	do := func(sql string, args ...any) {
		t.Helper()
		_, err := other.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	backend := func() (id int) {
		t.Helper()
		b := d.NewBatch()
		b.Add(region.EU, raw(`SELECT pg_backend_pid() WHERE $1 <> ''`), scanRow(&id))
		require.NoError(t, b.Run(t.Context()))
		return id
	}
	waiting := func() (found bool) {
		require.NoError(t, other.QueryRow(t.Context(),
			`SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)`).Scan(&found))
		return found
	}
	// cancelWhileWaiting cancels a batch that waits for the lock, and calls then.
	cancelWhileWaiting := func(then func()) error {
		do(`SELECT pg_advisory_lock($1)`, key)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			b := d.NewBatch()
			b.Add(region.EU, raw(`SELECT pg_advisory_xact_lock_shared(1) WHERE $1 <> ''`), discard)
			ended <- b.Run(ctx)
		}()
		require.Eventually(t, waiting, patience, time.Millisecond)
		cancel()
		then()
		return <-ended
	}
	unlock := func() { do(`SELECT pg_advisory_unlock($1)`, key) }
	first := backend()

	_ = cancelWhileWaiting(unlock) // the statement ended, or did not
	require.Equal(t, first, backend())

	ctx, cancel := context.WithCancel(t.Context())
	require.ErrorIs(t, d.RunInteractive(ctx, region.EU, func(context.Context, *db.InteractiveTx) error {
		cancel()
		return errors.New("the caller has left")
	}), context.Canceled)
	require.Equal(t, first, backend())

	require.ErrorIs(t, cancelWhileWaiting(func() {}), context.Canceled)
	unlock()
	require.NotEqual(t, first, backend())
}
