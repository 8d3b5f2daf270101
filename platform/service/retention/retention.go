// Package retention deletes what the network settings say shall not be kept longer.
//
// Every server of a region works on the rows of the region's home, a page at a time, with pauses. Nothing is remembered
// between pages but what the database shows, so that a job continues anywhere after a restart.
package retention

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/network"
)

const (
	every = 10 * time.Minute
	// PageSize is the number of rows of a page.
	PageSize = 200
	day      = 24 * time.Hour
)

// Swept is the result of a page.
type Swept struct {
	Rows   int
	Oldest time.Time // when the retention of the oldest row began; zero if there was none
	More   bool      // whether there may be more rows
}

// Kind is a kind of rows with a retention of its own.
type Kind struct {
	Name string
	// Days returns the retention in days; 0 means for ever.
	Days  func(network.Settings) int
	Sweep Sweep
}

// Sweep ends the retention of a page of rows of a home whose retention began before a time. Several servers may run it concurrently.
type Sweep func(ctx context.Context, home region.Code, before time.Time) (Swept, error)

// Service enforces the retention of the network.
type Service struct {
	*service.Deps
	kinds   []Kind
	deleted *prometheus.CounterVec
	lag     *prometheus.GaugeVec
}

// New returns the service. A nil registerer registers no metrics.
func New(d *service.Deps, registerer prometheus.Registerer, kinds ...Kind) *Service {
	register := promauto.With(registerer)
	s := &Service{
		Deps: d, kinds: kinds,
		deleted: register.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_retention_deleted_total", Help: "Rows deleted or emptied because their retention had ended, by kind.",
		}, []string{"kind"}),
		lag: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "plaza_retention_lag_seconds", Help: "How long ago the retention of the oldest row found by the last page had ended, by kind.",
		}, []string{"kind"}),
	}
	for _, k := range kinds {
		s.deleted.WithLabelValues(k.Name)
		s.lag.WithLabelValues(k.Name)
	}
	return s
}

// Job returns the background job, with a lane for each kind.
func (s *Service) Job() jobs.Job {
	return jobs.Job{
		Name: "retention", Lanes: int64(len(s.kinds)), Every: every, Log: s.Log,
		Drain: func(ctx context.Context, home region.Code, lane int64) (bool, error) {
			return s.Sweep(ctx, home, s.kinds[lane])
		},
	}
}

// Sweep ends the retention of a page of rows, and reports whether there may be more. It then waits as long as the page
// took, so that the job uses at most half of a connection.
func (s *Service) Sweep(ctx context.Context, home region.Code, k Kind) (more bool, err error) {
	settings, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Settings, home)
	if err != nil {
		return false, err
	}
	days := k.Days(settings)
	if days <= 0 {
		s.lag.WithLabelValues(k.Name).Set(0)
		return false, nil
	}
	before := s.Now().Add(-time.Duration(days) * day)
	began := time.Now()
	swept, err := k.Sweep(ctx, home, before)
	if err != nil {
		return false, err
	}
	s.deleted.WithLabelValues(k.Name).Add(float64(swept.Rows))
	lag := time.Duration(0)
	if !swept.Oldest.IsZero() {
		lag = max(0, before.Sub(swept.Oldest))
	}
	s.lag.WithLabelValues(k.Name).Set(lag.Seconds())
	if swept.More {
		pause(ctx, time.Since(began))
	}
	return swept.More, nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
