package db_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fairqueue"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// TestFairPool has one user wait for the only connection with many statements, of which the first holds it until another user
// waits too. The other user gets it next.
func TestFairPool(t *testing.T) {
	d := openNew(t, func(c *db.Config) { c.PoolSize = 1 })
	greedy, modest := fairqueue.WithUser(t.Context(), "greedy"), fairqueue.WithUser(t.Context(), "modest")
	const calls = 10
	var g sync.WaitGroup
	order := make(chan string, calls+1)
	free := make(chan struct{})
	call := func(ctx context.Context, user string) {
		g.Go(func() {
			b := d.NewBatch()
			b.Add(region.EU, raw(anything), func(pgx.Rows) error {
				order <- user
				<-free
				return nil
			})
			if err := b.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	waiting := func(n int) {
		t.Helper()
		require.Eventually(t, func() bool { return len(order) == 1 && d.Waiting(region.EU) == n }, patience, time.Millisecond)
	}
	for range calls {
		call(greedy, "greedy")
	}
	waiting(calls - 1)
	call(modest, "modest")
	waiting(calls)
	close(free)
	g.Wait()
	require.Equal(t, "greedy", <-order)
	require.Equal(t, "modest", <-order)
}
