package store

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/plaza-social/plaza/platform/region"
)

type metrics struct {
	roundTrips *prometheus.CounterVec
	retries    *prometheus.CounterVec
	away       *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, s *Store) (*metrics, error) {
	m := &metrics{
		roundTrips: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_database_round_trips_total", Help: "Round trips to the database, by home.",
		}, []string{"home"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_database_transaction_retries_total", Help: "Transactions run again after a conflict, by home.",
		}, []string{"home"}),
		away: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_database_unavailable_total", Help: "Round trips that a home did not answer, by home.",
		}, []string{"home"}),
	}
	if reg == nil {
		return m, nil
	}
	collectors := []prometheus.Collector{m.roundTrips, m.retries, m.away}
	for _, code := range region.All() {
		for _, counter := range []*prometheus.CounterVec{m.roundTrips, m.retries, m.away} {
			counter.WithLabelValues(string(code)) // there from the start, at 0: a rate over it is right from the first event on
		}
		pool := s.homes[code].pool
		labels := prometheus.Labels{"home": string(code)}
		collectors = append(collectors,
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "plaza_database_connections", Help: "Open connections, by home.", ConstLabels: labels,
			}, func() float64 { return float64(pool.Stat().TotalConns()) }),
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "plaza_database_connections_in_use", Help: "Connections in use, by home.", ConstLabels: labels,
			}, func() float64 { return float64(pool.Stat().AcquiredConns()) }))
	}
	var errs []error
	for _, c := range collectors {
		errs = append(errs, reg.Register(c))
	}
	return m, errors.Join(errs...)
}

type roundTripsKey struct{}

// CountRoundTrips returns a context under which the store counts round trips into the returned counter. Reads of
// several homes at once count as one: they are in flight together.
func CountRoundTrips(ctx context.Context) (context.Context, *atomic.Int64) {
	n := new(atomic.Int64)
	return context.WithValue(ctx, roundTripsKey{}, n), n
}

func countRoundTrip(ctx context.Context) {
	if n, ok := ctx.Value(roundTripsKey{}).(*atomic.Int64); ok {
		n.Add(1)
	}
}
