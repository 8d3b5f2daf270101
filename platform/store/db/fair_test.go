package db_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fairqueue"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// TestFairPool has one user wait for the only connection with many slow statements. Another user gets it next.
func TestFairPool(t *testing.T) {
	d := openNew(t, func(c *db.Config) { c.PoolSize, c.StatementTimeout = 1, time.Minute })
	greedy, modest := fairqueue.WithUser(t.Context(), "greedy"), fairqueue.WithUser(t.Context(), "modest")
	const calls = 10
	var done atomic.Int64
	var g sync.WaitGroup
	for range calls {
		g.Go(func() {
			b := d.NewBatch()
			b.Add(region.EU, raw(`SELECT pg_sleep(0.05) WHERE $1 <> ''`), discard)
			if err := b.Run(greedy); err != nil {
				t.Error(err)
			}
			done.Add(1)
		})
	}
	require.Eventually(t, func() bool { return done.Load() > 0 }, time.Minute, time.Millisecond)
	require.NoError(t, ask(modest, d.NewBatch(), region.EU))
	require.Less(t, done.Load(), int64(calls))
	g.Wait()
}
