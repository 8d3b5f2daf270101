package db

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/plaza-social/plaza/platform/region"
)

type metrics struct {
	roundTrips  *prometheus.CounterVec
	retries     *prometheus.CounterVec
	unavailable *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, d *DB) (*metrics, error) {
	m := &metrics{
		roundTrips: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_database_round_trips_total", Help: "Round trips to the database, by home.",
		}, []string{"home"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_database_transaction_retries_total", Help: "Retries of transactions after a conflict, by home.",
		}, []string{"home"}),
		unavailable: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_database_unavailable_total", Help: "Round trips that failed because the home was unavailable, by home.",
		}, []string{"home"}),
	}
	if reg == nil {
		return m, nil
	}
	collectors := []prometheus.Collector{m.roundTrips, m.retries, m.unavailable}
	for _, code := range region.All() {
		for _, counter := range []*prometheus.CounterVec{m.roundTrips, m.retries, m.unavailable} {
			counter.WithLabelValues(string(code)) // export a 0 from the start, so that rates include the first event
		}
		pool := d.homes[code].pool
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

// CountRoundTrips returns a context under which round trips are counted, and the counter. Concurrent reads of several
// homes count as one.
func CountRoundTrips(ctx context.Context) (context.Context, *atomic.Int64) {
	n := new(atomic.Int64)
	return context.WithValue(ctx, roundTripsKey{}, n), n
}

func countRoundTrip(ctx context.Context) {
	if n, ok := ctx.Value(roundTripsKey{}).(*atomic.Int64); ok {
		n.Add(1)
	}
}
