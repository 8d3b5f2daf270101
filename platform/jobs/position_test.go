package jobs

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

// TestPosition checks which polls read all due rows: the first one, one of forty, and those after a poll that left rows.
func TestPosition(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	var all Positions
	p := all.Of(region.EU, 1)
	for i := range 2*fullPoll + 1 {
		at := start.Add(time.Duration(i) * time.Second)
		if i%fullPoll == 0 {
			require.Zero(t, p.After(), i)
		} else {
			require.Equal(t, at.Add(-time.Second-slack), p.After(), i)
		}
		p.Ended(at, true)
	}
	require.NotZero(t, p.After())
	require.Same(t, p, all.Of(region.EU, 1))
	require.Zero(t, all.Of(region.EU, 0).After())
	require.Zero(t, all.Of(region.US, 1).After())
	p.Ended(start, false)
	require.Zero(t, p.After())
}

// TestPolled records the end of a poll for each lane: a lane that was empty, one that was read whole, one with as many rows as a poll
// reads, and one whose work fails.
func TestPolled(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	lanes := []int64{0, 1, 2, 3, 4}
	var all Positions
	require.Zero(t, all.After(region.EU, lanes))
	broken := errors.New("broken")
	work := Polled(&all, region.EU, at, lanes, map[int64][]string{1: {"a"}, 2: {"b", "c"}, 3: {"broken"}, 4: {"idle", "idle"}}, 2,
		func(_ context.Context, rows []string) (bool, error) {
			if rows[0] == "broken" {
				return true, broken
			}
			return rows[0] != "idle", nil
		})
	require.Len(t, work, 4)
	for lane, want := range map[int64]struct {
		more bool
		err  error
	}{1: {}, 2: {more: true}, 3: {err: broken}, 4: {}} {
		more, err := work[lane](t.Context())
		require.Equal(t, want.more, more, lane)
		require.Equal(t, want.err, err, lane)
	}
	for lane, left := range []bool{false, false, true, true, true} {
		require.Equal(t, left, all.Of(region.EU, int64(lane)).After().IsZero(), lane)
	}
	require.Equal(t, at.Add(-slack), all.After(region.EU, lanes[:2]))
	require.Zero(t, all.After(region.EU, lanes), "one of them must read all rows")
	all.Of(region.EU, 1).Ended(at.Add(time.Second), true)
	for _, order := range [][]int64{{0, 1}, {1, 0}} {
		require.Equal(t, at.Add(-slack), all.After(region.EU, order), "the earliest position")
	}
	all.Failed(region.EU, lanes[:1])
	require.Zero(t, all.After(region.EU, lanes[:1]))
}
