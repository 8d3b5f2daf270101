// Package jobs runs background work at intervals.
//
// Every server of a region works on the rows of the region's home. Two servers may see the same row concurrently, so
// the work on a row must be a transaction that succeeds for only one of them.
package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

// Job is background work, divided into lanes that run concurrently.
type Job struct {
	// Name identifies the job in logs.
	Name string
	// Lanes is the number of lanes, numbered from 0.
	Lanes int64
	// Every is the interval at which a lane runs.
	Every time.Duration
	// Drain does the work that is due in a lane of a home. It is called again immediately while more is true.
	Drain func(ctx context.Context, home region.Code, lane int64) (more bool, err error)
	Log   *slog.Logger
}

// Run drains every lane immediately and then at each interval, until ctx is done. Errors are logged; the lane runs
// again after the interval.
func (j Job) Run(ctx context.Context, home region.Code) {
	var g sync.WaitGroup
	for lane := range j.Lanes {
		g.Go(func() { j.runLane(ctx, home, lane) })
	}
	g.Wait()
}

func (j Job) runLane(ctx context.Context, home region.Code, lane int64) {
	ticker := time.NewTicker(j.Every)
	defer ticker.Stop()
	for {
		j.drain(ctx, home, lane)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (j Job) drain(ctx context.Context, home region.Code, lane int64) {
	for ctx.Err() == nil {
		more, err := j.Drain(ctx, home, lane)
		if err != nil && ctx.Err() == nil {
			j.Log.WarnContext(ctx, "job failed", "job", j.Name, "home", home, "lane", lane, "error", err)
		}
		if err != nil || !more {
			return
		}
	}
}
