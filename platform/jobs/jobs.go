// Package jobs runs work that comes due at times of its own.
//
// Every server of a region works on the rows of its home. Two may see the same row at once; what they do with it has to
// be a transaction that only one of them gets through.
package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

// Job is work that is spread over lanes, which do not wait for each other.
type Job struct {
	// Name is for the log.
	Name string
	// Lanes are numbered from 0.
	Lanes int64
	// Every is the time between two looks at a lane.
	Every time.Duration
	// Drain does what is due in a lane of a home. more says that there was too much for one go.
	Drain func(ctx context.Context, home region.Code, lane int64) (more bool, err error)
	Log   *slog.Logger
}

// Run works on home until ctx is done. A failure is logged, and the lane is looked at again when its time comes.
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
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		j.drain(ctx, home, lane)
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
