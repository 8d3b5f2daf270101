package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

func TestBacklog(t *testing.T) {
	s := open(t, dbtest.New(t))
	b, err := s.Backlog(t.Context(), region.EU)
	require.NoError(t, err)
	require.Equal(t, store.Backlog{}, b)

	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	emit := func(home region.Code, at time.Time) core.OutboxRow {
		w := s.NewTx(home)
		row := w.Emit("topic", "payload", at, at.Add(time.Second))
		require.NoError(t, w.Commit(t.Context()))
		return row
	}
	emit(region.US, start.Add(-time.Hour))
	failed := emit(region.EU, start)
	for i := range 20 {
		emit(region.EU, start.Add(time.Duration(i+1)*time.Minute))
	}
	oldest := func() time.Time {
		b, err := s.Backlog(t.Context(), region.EU)
		require.NoError(t, err)
		require.Zero(t, b.OldestScheduled)
		return b.OldestOutbox.UTC()
	}
	require.Equal(t, start, oldest())
	require.NoError(t, s.DelayOutboxRows(t.Context(), region.EU, []core.OutboxRow{failed}, failed.ID, start.Add(24*time.Hour)))
	require.Equal(t, start, oldest(), "a row that is put off waits still")
	require.NoError(t, s.DeleteOutboxRows(t.Context(), region.EU, []core.OutboxRow{failed}))
	require.Equal(t, start, oldest(), "a row that was put off since it was read is not deleted")
	failed.NotBefore = start.Add(24 * time.Hour)
	require.NoError(t, s.DeleteOutboxRows(t.Context(), region.EU, []core.OutboxRow{failed}))
	require.Equal(t, start.Add(time.Minute), oldest())
}

// TestBacklogOfHomes takes the earlier time of each kind of work; zero means that nothing waits.
func TestBacklogOfHomes(t *testing.T) {
	t.Parallel()
	both := store.Backlog{OldestOutbox: later(1), OldestScheduled: later(4)}
	other := store.Backlog{OldestOutbox: later(2), OldestScheduled: later(3)}
	want := store.Backlog{OldestOutbox: later(1), OldestScheduled: later(3)}
	require.Equal(t, want, both.Earliest(other))
	require.Equal(t, want, other.Earliest(both))
	require.Equal(t, both, both.Earliest(store.Backlog{}))
	require.Equal(t, both, store.Backlog{}.Earliest(both))
}
