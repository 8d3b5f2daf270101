package db_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// TestHeldLockDoesNotOpenTheBreaker holds the lock of a row in another connection. The transactions that update the row
// wait, without using up the connections, and the home stays available when they give up although it has not answered them.
func TestHeldLockDoesNotOpenTheBreaker(t *testing.T) {
	url := dbtest.New(t)
	conn := connect(t, url)
	_, err := conn.Exec(t.Context(), makeThings)
	require.NoError(t, err)
	s := open(t, url, func(c *db.Config) { c.PoolSize = 2 })
	w := s.NewTx(region.US)
	w.Exec(raw(addThing), "hot", "hot")
	w.Exec(raw(addThing), "cold", "cold")
	commit(t, w)
	held, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), raiseThing, "us", "hot")
	require.NoError(t, err)

	raise := raw(raiseThing).Updates(things, 2)
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	began := time.Now()
	var writers sync.WaitGroup
	for range 20 {
		writers.Go(func() {
			w := s.NewTx(region.US)
			w.Exec(raise, "hot")
			if err := w.Commit(ctx); err == nil {
				t.Error("the row is locked")
			}
		})
	}
	require.Eventually(t, func() bool { return s.AnsweredSince(region.US, began) }, patience, time.Millisecond, "the home was checked")
	checked := time.Now()
	require.Eventually(t, func() bool { return time.Since(checked) > db.MinWait }, patience, time.Millisecond)
	giveUp()
	writers.Wait()
	require.False(t, s.Probing(region.US))
	if !testdb.Cockroach(t) { // there, readers wait for the lock
		countThings(t, s)
	}
	w = s.NewTx(region.US)
	w.Exec(raise, "cold")
	commit(t, w)
	require.NoError(t, held.Rollback(t.Context()))
	w = s.NewTx(region.US)
	w.Exec(raise, "hot")
	commit(t, w)
}

// TestRowQueue fills the queue of a row. The next transaction is refused at once, and so is one whose time limit ends while it waits.
func TestRowQueue(t *testing.T) {
	q := db.NewRowQueue("thing")
	ctx, cancel := context.WithCancel(t.Context())
	leave, err := q.Enter(ctx)
	require.NoError(t, err)
	var waiters sync.WaitGroup
	for range db.MaxRowWaiters {
		waiters.Go(func() {
			_, err := q.Enter(ctx)
			require.ErrorIs(t, err, context.Canceled)
		})
	}
	require.Eventually(t, func() bool { return q.Users() == db.MaxRowWaiters+1 }, patience, time.Millisecond)
	_, err = q.Enter(t.Context())
	require.ErrorIs(t, err, fail.Unavailable("", nil))
	cancel()
	waiters.Wait()
	late, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	_, err = q.Enter(late)
	require.ErrorIs(t, err, fail.Unavailable("", nil))
	leave()
	require.Zero(t, q.Users())
	leave, err = q.Enter(t.Context())
	require.NoError(t, err)
	leave()
}

// TestShards checks that concurrent transactions add to different shards of a count.
func TestShards(t *testing.T) {
	for _, n := range []int{1, db.Shards, db.Shards + 1} {
		taken, giveBack := db.TakeShards(n)
		require.Len(t, taken, min(n, db.Shards))
		giveBack()
	}
}
