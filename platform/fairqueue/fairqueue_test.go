package fairqueue

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// use is a use of a slot that starts at a time and takes a while.
type use struct {
	user  string
	at    time.Duration
	takes time.Duration
}

// simulate runs uses in a queue and returns when each got its slot.
func simulate(t *testing.T, slots int, uses []use) []time.Duration {
	t.Helper()
	admitted := make([]time.Duration, len(uses))
	synctest.Test(t, func(t *testing.T) {
		q := New(slots)
		began := time.Now()
		var g sync.WaitGroup
		for i, u := range uses {
			g.Go(func() {
				wait(t, u.at+time.Duration(i)) // in the order of the list
				release, err := q.Acquire(WithUser(t.Context(), u.user))
				if err != nil {
					t.Error(err)
					return
				}
				admitted[i] = time.Since(began).Round(time.Millisecond)
				wait(t, u.takes)
				release()
			})
		}
		g.Wait()
		require.Equal(t, slots, q.free)
		require.Empty(t, q.waiting)
		for _, a := range q.users {
			require.True(t, a.idle())
		}
	})
	return admitted
}

// wait waits on the clock of the simulation.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-t.Context().Done():
	case <-time.After(d):
	}
}

const ms = time.Millisecond

func repeat(n int, u use) []use {
	all := make([]use, n)
	for i := range all {
		all[i] = u
	}
	return all
}

func TestAcquire(t *testing.T) {
	t.Parallel()
	greedy := repeat(10, use{"greedy", 0, 100 * ms})
	for name, c := range map[string]struct {
		slots int
		uses  []use
		last  time.Duration // when the last use got its slot
	}{
		"a free slot":                          {2, []use{{"a", 0, 100 * ms}, {"b", 10 * ms, 0}}, 10 * ms},
		"the same user waits in order":         {1, []use{{"a", 0, 100 * ms}, {"a", 0, 100 * ms}, {"a", 0, 0}}, 200 * ms},
		"another user goes first":              {1, append(greedy, use{"modest", 10 * ms, 0}), 100 * ms},
		"the user with fewer slots goes first": {2, append(greedy, use{"modest", 10 * ms, 0}), 100 * ms},
		"a new user has no advantage over one who waits and used as little": {
			1, append(append(repeat(3, use{"a", 0, 100 * ms}), repeat(3, use{"b", 0, 100 * ms})...), use{"c", 450 * ms, 0}), 600 * ms,
		},
		"long uses cost more than short ones": {
			1, append(append(repeat(3, use{"long", 0, 100 * ms}), repeat(8, use{"short", 0, 10 * ms})...), use{"short", 0, 0}), 180 * ms,
		},
		"uses that did not wait cost as much": {
			1, []use{{"heavy", 0, 100 * ms}, {"other", 110 * ms, 100 * ms}, {"heavy", 120 * ms, 10 * ms}, {"modest", 130 * ms, 0}}, 210 * ms,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			admitted := simulate(t, c.slots, c.uses)
			require.Equal(t, c.last, admitted[len(admitted)-1])
		})
	}
}

// TestAcquireGivenUp gives up waiting, and then gets the slot.
func TestAcquireGivenUp(t *testing.T) {
	t.Parallel()
	q := New(1)
	release, err := q.Acquire(t.Context())
	require.NoError(t, err)
	ended, end := context.WithCancel(t.Context())
	end()
	_, err = q.Acquire(ended)
	require.ErrorIs(t, err, context.Canceled)
	release()
	release, err = q.Acquire(ended)
	require.NoError(t, err, "a free slot needs no waiting")
	release()
	require.Equal(t, 1, q.free)
}

// TestGivenUpWhenAdmitted gives up a use that has just been admitted: its slot is free again.
func TestGivenUpWhenAdmitted(t *testing.T) {
	t.Parallel()
	q := New(1)
	release, err := q.Acquire(t.Context())
	require.NoError(t, err)
	a, waiting := q.enter("user")
	require.NotNil(t, waiting)
	release()
	<-waiting.admitted
	require.Zero(t, q.free)
	q.leave(a, waiting)
	require.Equal(t, 1, q.free)
}

// TestUsersAreForgotten checks that a user who has used slots for no longer than others is forgotten at the end of the use.
func TestUsersAreForgotten(t *testing.T) {
	t.Parallel()
	q := New(2)
	now := time.Now()
	q.now = func() time.Time { return now }
	first, err := q.Acquire(WithUser(t.Context(), "short"))
	require.NoError(t, err)
	second, err := q.Acquire(WithUser(t.Context(), "long"))
	require.NoError(t, err)
	first()
	require.NotContains(t, q.users, "short")
	now = now.Add(time.Second)
	second()
	require.Contains(t, q.users, "long")
}

// TestUsersLimit checks that the accounts of users who are gone are forgotten.
func TestUsersLimit(t *testing.T) {
	t.Parallel()
	q := New(1)
	now := time.Now()
	q.now = func() time.Time { return now }
	for i := range 3 * maxUsers {
		release, err := q.Acquire(WithUser(t.Context(), strconv.Itoa(i)))
		require.NoError(t, err)
		now = now.Add(time.Duration(3*maxUsers-i) * time.Millisecond)
		release()
		require.LessOrEqual(t, len(q.users), maxUsers)
	}
}

// TestSlots checks that no more than the slots are in use, whatever is given up.
func TestSlots(t *testing.T) {
	t.Parallel()
	const slots = 3
	q := New(slots)
	var inUse, most atomic.Int64
	var g sync.WaitGroup
	for i := range 50 {
		g.Go(func() {
			for n := range 200 {
				ctx, cancel := context.WithTimeout(WithUser(t.Context(), strconv.Itoa(i%7)), time.Duration(n%5)*50*time.Microsecond)
				release, err := q.Acquire(ctx)
				if err == nil {
					most.Store(max(most.Load(), inUse.Add(1)))
					inUse.Add(-1)
					release()
				}
				cancel()
			}
		})
	}
	g.Wait()
	require.LessOrEqual(t, most.Load(), int64(slots))
	require.Equal(t, slots, q.free)
	require.Empty(t, q.waiting)
}
