// Package jobs runs background work at intervals.
//
// Every server of a region works on the rows of the region's home. Two servers may see the same row concurrently, so
// the work on a row must be a transaction that succeeds for only one of them.
package jobs

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

// Job is background work, divided into lanes that run concurrently: the work of one lane does not wait for that of another.
// Either Drain or Poll is set.
type Job struct {
	// Name identifies the job in logs.
	Name string
	// Lanes is the number of lanes, numbered from 0.
	Lanes int64
	// Every is the interval at which a lane runs.
	Every time.Duration
	// Drain does the work that is due in a lane of a home. It is called again immediately while more is true.
	Drain Drain
	// Poll reads what is due in some lanes of a home, so that one statement serves all of them.
	Poll Poll
	// Wake makes polls happen before the interval has elapsed; may be nil.
	Wake *Wake
	Log  *slog.Logger
}

// New returns a job with a single lane.
func New(name string, every time.Duration, log *slog.Logger, drain func(ctx context.Context, home region.Code) (more bool, err error)) Job {
	return Job{Name: name, Lanes: 1, Every: every, Log: log, Drain: func(ctx context.Context, home region.Code, _ int64) (bool, error) {
		return drain(ctx, home)
	}}
}

// Drain does the work that is due in a lane of a home, and reports whether there may be more.
type Drain func(ctx context.Context, home region.Code, lane int64) (more bool, err error)

// Poll reads what is due in lanes of a home, and returns the work of each lane that has any.
type Poll func(ctx context.Context, home region.Code, lanes []int64) (map[int64]Work, error)

// Work does what was read for a lane, and reports whether there may be more.
type Work func(ctx context.Context) (more bool, err error)

// Run runs every lane immediately and then at each interval, until ctx is done. Errors are logged; the lane runs
// again after the interval.
func (j Job) Run(ctx context.Context, home region.Code) {
	if j.Poll != nil {
		(&poller{Job: j, home: home, ended: make(chan ended, j.Lanes)}).run(ctx)
		return
	}
	var g sync.WaitGroup
	for lane := range j.Lanes {
		g.Go(func() { j.runLane(ctx, home, lane) })
	}
	g.Wait()
}

// Once runs every lane once, one after the other.
func (j Job) Once(ctx context.Context, home region.Code) error {
	var errs []error
	if j.Poll != nil {
		work, err := j.Poll(ctx, home, j.lanes())
		errs = append(errs, err)
		for lane := range j.Lanes {
			if work[lane] != nil {
				_, err := work[lane](ctx)
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	}
	for lane := range j.Lanes {
		_, err := j.Drain(ctx, home, lane)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (j Job) lanes() []int64 {
	all := make([]int64, j.Lanes)
	for lane := range all {
		all[lane] = int64(lane)
	}
	return all
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
		j.log(ctx, home, lane, err)
		if err != nil || !more {
			return
		}
	}
}

// log logs the error of a lane, unless it is nil or the job is being stopped.
func (j Job) log(ctx context.Context, home region.Code, lane int64, err error) {
	if err != nil && ctx.Err() == nil {
		j.Log.WarnContext(ctx, "job failed", "job", j.Name, "home", home, "lane", lane, "error", err)
	}
}
