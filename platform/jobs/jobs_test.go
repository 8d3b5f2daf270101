package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
)

// TestRun goes on in a lane while there is more, past failures, and ends with its context.
func TestRun(t *testing.T) {
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
