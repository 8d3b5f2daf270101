package app

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/statusz"
)

// checkTimeout is how long a caller waits.
const checkTimeout = 800 * time.Millisecond

// counted returns the readiness of a server with checks, and the number of their runs.
func counted(t *testing.T, checks ...Check) (*readiness, *atomic.Int32) {
	t.Helper()
	r, runs := newReadiness(t.Context(), time.Minute, checkTimeout), new(atomic.Int32)
	r.add(func(context.Context) []Check {
		runs.Add(1)
		return checks
	})
	t.Cleanup(r.close)
	return r, runs
}

// after returns a check that passes after some time, unless its context ends before.
func after(name string, d time.Duration) Check {
	return Check{Name: name, Run: func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
}

func TestReadinessIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, runs := counted(t, after("database", checkTimeout/2))
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if !r.check(t.Context()).Ready || r.err(t.Context()) != nil {
					t.Error("the server is ready")
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 1, runs.Load(), "all share one run")
		time.Sleep(readinessAge - 1) // of a bubble
		require.True(t, r.check(t.Context()).Ready)
		require.EqualValues(t, 1, runs.Load(), "its result is used for a second")
		time.Sleep(time.Nanosecond) // of a bubble
		require.True(t, r.check(t.Context()).Ready)
		require.EqualValues(t, 2, runs.Load())
	})
}

// TestReadinessOfASlowCheck checks that a caller does not wait for long, and that the run continues when a caller leaves.
func TestReadinessOfASlowCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, runs := counted(t, after("schema", 0), after("database", 5*checkTimeout/2)) // in the middle of the third wait
		start := time.Now()
		gone, leave := context.WithCancel(t.Context())
		leave()
		require.False(t, r.check(gone).Ready)
		require.Zero(t, time.Since(start))
		for range 2 {
			start = time.Now()
			require.Equal(t, []statusz.CheckResult{
				{Name: "server", Ready: true}, {Name: "schema", Ready: true}, {Name: "database", Reason: "has not answered within 800ms"},
			}, r.check(t.Context()).Checks)
			require.Equal(t, checkTimeout, time.Since(start))
		}
		require.True(t, r.check(t.Context()).Ready)
		require.EqualValues(t, 1, runs.Load())
	})
}

func TestReadinessOfACheckThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, runs := counted(t, after("database", time.Hour))
		require.False(t, r.check(t.Context()).Ready)
		time.Sleep(r.limit) // of a bubble
		require.Equal(t, context.DeadlineExceeded.Error(), r.check(t.Context()).Checks[1].Reason)
		require.EqualValues(t, 1, runs.Load(), "the result of the run that the limit has ended")
		time.Sleep(readinessAge) // of a bubble
		require.False(t, r.check(t.Context()).Ready)
		require.EqualValues(t, 2, runs.Load())
	})
}

func TestReadinessOfAFailedCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := func(context.Context) error { return errors.New("no\nanswer") }
		r, _ := counted(t, after("database", 0), Check{Name: "database eu", Advisory: true, Run: away})
		require.Equal(t, "ready\ndatabase eu: no answer (advisory)\nserver: ok\ndatabase: ok\n", r.check(t.Context()).String())
		r, _ = counted(t, Check{Name: "database", Run: away})
		require.EqualError(t, r.err(t.Context()), "not ready\ndatabase: no answer\nserver: ok\n")
	})
}

// TestDrainingIsNeverKept drains a server whose last result is that it is ready, and one with a caller that waits.
func TestDrainingIsNeverKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, runs := counted(t, after("database", 0))
		require.True(t, r.check(t.Context()).Ready)
		r.drain()
		time.Sleep(2 * readinessAge) // of a bubble
		require.Equal(t, "not ready\nserver: draining: the server is shutting down\ndatabase: ok\n", r.check(t.Context()).String())
		require.EqualValues(t, 1, runs.Load(), "there are no further runs")

		r, _ = counted(t, after("database", checkTimeout/2))
		answer := make(chan Readiness, 1)
		start := time.Now()
		go func() { answer <- r.check(t.Context()) }()
		synctest.Wait()
		r.drain()
		require.False(t, (<-answer).Ready)
		require.Zero(t, time.Since(start))

		r, runs = counted(t, after("database", 0))
		r.drain()
		require.Equal(t, "not ready\nserver: draining: the server is shutting down\n", r.check(t.Context()).String())
		require.Zero(t, runs.Load())
	})
}
