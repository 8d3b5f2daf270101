package db_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// openAsCockroach opens a DB with a table of things, one of which is stored, and returns a connection to the same database. PostgreSQL
// makes reads wait for the lock of a table only.
func openAsCockroach(t *testing.T) (s *db.DB, begin func(lock string) (unlock func()), longest func() time.Duration) {
	t.Helper()
	url := dbtest.New(t)
	conn, watch := connect(t, url), connect(t, url)
	_, err := conn.Exec(t.Context(), makeThings)
	require.NoError(t, err)
	s = open(t, url, db.AsCockroach, func(c *db.Config) {
		c.PoolSize, c.Limits = 4, limits.Lift()
		c.Limits.ReadLock = 10 * time.Millisecond
	})
	w := s.NewTx(region.US)
	w.Exec(raw(addThing), "hot", "hot")
	commit(t, w)
	begin = func(lock string) func() {
		held, err := conn.Begin(t.Context())
		require.NoError(t, err)
		_, err = held.Exec(t.Context(), lock)
		require.NoError(t, err)
		return func() { require.NoError(t, held.Rollback(t.Context())) }
	}
	longest = func() (longest time.Duration) {
		require.NoError(t, watch.QueryRow(t.Context(), `SELECT COALESCE(max(clock_timestamp() - query_start), interval '0') FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&longest))
		return longest
	}
	return s, begin, longest
}

// TestLockedReads has many reads wait for a lock. They return their connections, so that other calls succeed, and succeed once there is
// no lock.
func TestLockedReads(t *testing.T) {
	s, lock, _ := openAsCockroach(t)
	unlock := lock(`LOCK TABLE things IN ACCESS EXCLUSIVE MODE`)
	const readers = 20
	var waiting sync.WaitGroup
	for range readers {
		waiting.Go(func() {
			var n int
			b := s.NewBatch()
			b.Add(region.US, raw(`SELECT count(*) FROM things WHERE home = $1`), scanRow(&n))
			if err := b.Run(t.Context()); err != nil || n != 1 {
				t.Errorf("%d rows: %v", n, err)
			}
		})
	}
	require.Eventually(t, func() bool { return s.LockedReads(region.US) == readers }, patience, time.Millisecond)
	for range readers {
		b := s.NewBatch()
		b.Add(region.US, raw(anything), discard)
		run(t, b)
	}
	require.EqualValues(t, readers, s.LockedReads(region.US))
	unlock()
	waiting.Wait()
}

// TestLockedReadGivesUp ends the time limit of a read that waits for a lock, and cancels another one. The home stays available.
func TestLockedReadGivesUp(t *testing.T) {
	s, lock, _ := openAsCockroach(t)
	defer lock(`LOCK TABLE things IN ACCESS EXCLUSIVE MODE`)()
	b := s.NewBatch()
	b.Add(region.US, raw(`SELECT count(*) FROM things WHERE home = $1`), discard)
	b.SetTimeout(100 * time.Millisecond)
	require.ErrorIs(t, b.Run(t.Context()), fail.Unavailable("", nil))

	ctx, cancel := context.WithCancel(t.Context())
	before := s.LockedReads(region.US)
	ended := make(chan error)
	go func() {
		b := s.NewBatch()
		b.Add(region.US, raw(`SELECT count(*) FROM things WHERE home = $1`), discard)
		ended <- b.Run(ctx)
	}()
	require.Eventually(t, func() bool { return s.LockedReads(region.US) > before }, patience, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.False(t, s.Probing(region.US))
}

// TestTransactionsWaitForLocks has a transaction wait for the lock of a row for longer than a read may.
func TestTransactionsWaitForLocks(t *testing.T) {
	s, lock, longest := openAsCockroach(t)
	unlock := lock(`SELECT id FROM things WHERE id = 'hot' FOR UPDATE`)
	ended := make(chan error)
	go func() {
		w := s.NewTx(region.US)
		w.Exec(raw(raiseThing).Updates(things, 2), "hot")
		ended <- w.Commit(t.Context())
	}()
	require.Eventually(t, func() bool { return longest() > 100*time.Millisecond }, patience, time.Millisecond)
	unlock()
	require.NoError(t, <-ended)
}
