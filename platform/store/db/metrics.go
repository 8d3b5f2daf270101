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
			Name:    "plaza_database_row_wait_seconds",
			Help:    "Time that transactions waited for others of this server that update the same rows, by home.",
			Buckets: []float64{.005, .1, 2.5},
		}, []string{"home"}),
		rowRejections: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_database_row_rejections_total", Help: "Transactions that did not get the rows that others update, by home.",
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
		collectors = append(collectors, d.homes[code].collectors()...)
	}
	var errs []error
	for _, c := range collectors {
		errs = append(errs, reg.Register(c))
	}
	return m, errors.Join(errs...)
}

// collectors returns the metrics of a home's connections.
func (h *home) collectors() []prometheus.Collector {
	labels := prometheus.Labels{"home": string(h.code)}
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, value)
	}
	return []prometheus.Collector{
		gauge("plaza_database_connections", "Open connections, by home.", func() float64 { return float64(h.pool.Stat().TotalConns()) }),
		gauge("plaza_database_connections_in_use", "Connections in use, by home.",
			func() float64 { return float64(h.pool.Stat().AcquiredConns()) }),
		gauge("plaza_database_connections_max", "Connections that may be open, by home.",
			func() float64 { return float64(h.pool.Stat().MaxConns()) }),
		gauge("plaza_database_connections_waiting", "Round trips that wait for a connection, by home.",
			func() float64 { return float64(h.queue.Stats().Waiting) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name:        "plaza_database_locked_reads_total",
			Help:        "Reads that returned their connection while another transaction had locked a row, by home.",
			ConstLabels: labels,
		}, func() float64 { return float64(h.lockedWaits.Load()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "plaza_database_connection_waits_total", Help: "Round trips that had to wait for a connection, by home.", ConstLabels: labels,
		}, func() float64 { return float64(h.queue.Stats().Waited) }),
	}
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
