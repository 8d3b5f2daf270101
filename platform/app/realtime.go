package app

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/realtime"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
)

// openRealtime makes the hub of the streams of events.
func (d *dependencies) openRealtime(shared *service.Deps) error {
	var err error
	d.realtime, err = realtime.New(realtime.Options{
		Deps: shared, Issuer: d.issuer, Marshal: edge.MarshalJSON, Registerer: d.metrics.Registerer(),
	})
	return err
}

// sweepEventsEvery is the time between two sweeps of an event log.
const sweepEventsEvery = 10 * time.Minute

// realtimeWorkers tell of events, and remove those that are too old to resume from.
func (d *dependencies) realtimeWorkers(shared *service.Deps) []worker {
	sweep := jobs.Job{
		Name: "event log sweep", Lanes: 1, Every: sweepEventsEvery, Log: d.log,
		Drain: func(ctx context.Context, home region.Code, _ int64) (bool, error) {
			var removed int64
			w := shared.Store.NewTx(home)
			w.SweepEvents(shared.Now().Add(-events.Retention), &removed)
			err := w.Commit(ctx)
			return removed > 0, err
		},
	}
	return []worker{
		{name: "realtime", run: func(ctx context.Context) error { d.realtime.Run(ctx); return nil }},
		{name: "event log sweep", run: func(ctx context.Context) error { sweep.Run(ctx, d.cfg.Region); return nil }},
	}
}
