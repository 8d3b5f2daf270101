package app

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
)

// TestEvacuatedHomes starts the jobs of regions once when they are evacuated, and stops them when they return or the server stops.
func TestEvacuatedHomes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var evacuated []region.Code
		running := map[region.Code]int{}
		count := func(home region.Code, n int) {
			mu.Lock()
			defer mu.Unlock()
			running[home] += n
		}
		e := &evacuatedHomes{log: slog.New(slog.DiscardHandler), regions: func() []region.Code { mu.Lock(); defer mu.Unlock(); return evacuated }}
		e.jobs = func(home region.Code) []jobs.Job {
			return []jobs.Job{{
				Name: "test", Lanes: 1, Every: time.Hour, Log: e.log,
				Drain: func(ctx context.Context, at region.Code, _ int64) (bool, error) {
					require.Equal(t, home, at)
					count(at, 1)
					<-ctx.Done()
					count(at, -1)
					return false, ctx.Err()
				},
			}}
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.run(ctx) }()
		requireRunning := func(want map[region.Code]int, now ...region.Code) {
			t.Helper()
			mu.Lock()
			evacuated = now
			mu.Unlock()
			time.Sleep(3 * evacuationInterval) // of a bubble
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			found := maps.Clone(running)
			maps.DeleteFunc(found, func(_ region.Code, n int) bool { return n == 0 })
			require.Equal(t, want, found)
		}
		requireRunning(map[region.Code]int{})
		requireRunning(map[region.Code]int{region.US: 1}, region.US)
		requireRunning(map[region.Code]int{region.US: 1, region.SG: 1}, region.US, region.SG)
		requireRunning(map[region.Code]int{region.SG: 1}, region.SG)
		requireRunning(map[region.Code]int{region.US: 1, region.SG: 1}, region.SG, region.US)
		stop()
		require.NoError(t, <-ended)
		require.Equal(t, map[region.Code]int{region.US: 0, region.SG: 0}, running)
	})
}
