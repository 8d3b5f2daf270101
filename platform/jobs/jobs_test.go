package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestRun checks that a lane is drained while there is more work, survives errors, and stops with its context.
func TestRun(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	calls := map[int64]int{}
	enough := func() bool { return calls[0] >= 6 && calls[1] >= 6 }
	job := jobs.Job{
		Name: "test", Lanes: 2, Every: time.Millisecond, Log: slog.New(slog.DiscardHandler),
		Drain: func(_ context.Context, home region.Code, lane int64) (bool, error) {
			mu.Lock()
			defer mu.Unlock()
			calls[lane]++
			if enough() {
				stop()
			}
			if calls[lane] == 3 {
				return true, errors.New("broken")
			}
			return home == region.EU && calls[lane]%2 == 0, nil
		},
	}
	job.Run(ctx, region.EU)
	require.True(t, enough())
	require.Len(t, calls, 2)
}

// TestRunImmediately checks that a job whose interval never elapses runs exactly until Drain reports no more work.
func TestRunImmediately(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		more []bool // the answers of Drain
		err  error  // the error of the last answer
		log  string
	}{
		"nothing due":   {more: []bool{false}},
		"three batches": {more: []bool{true, true, false}},
		"an error":      {more: []bool{true, true}, err: errors.New("broken"), log: "job=test home=eu lane=0 error=broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				var log bytes.Buffer
				var calls atomic.Int64
				done := make(chan struct{})
				job := jobs.Job{
					Name: "test", Lanes: 1, Every: time.Hour, Log: slog.New(slog.NewTextHandler(&log, nil)),
					Drain: func(context.Context, region.Code, int64) (bool, error) {
						n := int(calls.Add(1))
						if n < len(tc.more) {
							return tc.more[n-1], nil
						}
						return tc.more[n-1], tc.err
					},
				}
				go func() { defer close(done); job.Run(ctx, region.EU) }()
				synctest.Wait()
				require.EqualValues(t, len(tc.more), calls.Load())
				time.Sleep(time.Hour - 1) // of a bubble
				require.EqualValues(t, len(tc.more), calls.Load(), "no call before the interval has elapsed")
				stop()
				<-done
				require.Contains(t, log.String(), tc.log)
			})
		})
	}
}

// TestRunStopped checks that a job whose context has ended does nothing.
func TestRunStopped(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	jobs.Job{Name: "test", Lanes: 3, Every: time.Hour, Drain: func(context.Context, region.Code, int64) (bool, error) {
		t.Error("Drain was called")
		return false, nil
	}}.Run(ctx, region.US)
}
