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

	rowWait       *prometheus.HistogramVec
	rowRejections *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, d *DB) (*metrics, error) {
	m := &metrics{
		roundTrips: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_database_round_trips_total", Help: "Round trips to the database, by home.",
		}, []string{"home"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_database_transaction_retries_total", Help: "Retries of transactions, by home and SQLSTATE.",
		}, []string{"home", "reason"}),
		unavailable: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_database_unavailable_total", Help: "Round trips that failed because the home was unavailable, by home.",
		}, []string{"home"}),
		rowWait: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "plaza_database_row_wait_seconds", Help: "Time that transactions waited for others of this server that update the same rows, by home.",
			Buckets: []float64{.001, .005, .025, .1, .5, 2.5},
		}, []string{"home"}),
		rowRejections: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_database_row_rejections_total", Help: "Transactions that waited in vain for others that update the same rows, by home.",
		}, []string{"home"}),
	}
	if reg == nil {
		return m, nil
	}
	collectors := []prometheus.Collector{m.roundTrips, m.retries, m.unavailable, m.rowWait, m.rowRejections}
	for _, code := range region.All() {
		// Export a 0 from the start, so that rates include the first event.
		for _, counter := range []*prometheus.CounterVec{m.roundTrips, m.unavailable, m.rowRejections} {
			counter.WithLabelValues(string(code))
		}
		for _, reason := range retryReasons {
			m.retries.WithLabelValues(string(code), reason)
		}
		m.rowWait.WithLabelValues(string(code))
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
