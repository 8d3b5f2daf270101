package edge

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts requests. All labels have a limited number of values.
type metrics struct {
	requests *prometheus.CounterVec
	duration map[string]prometheus.Observer // by procedure; streams of events have none
	inFlight prometheus.Gauge
	counts   *Counts
}

// newMetrics registers the metrics, unless registerer is nil.
func newMetrics(registerer prometheus.Registerer, counts *Counts, methods map[string]*method, streams []Stream) (*metrics, error) {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "plaza_http_requests_total",
		Help: "Requests by operation, protocol and HTTP status; over gRPC, the status that REST would have had.",
	}, []string{"procedure", "protocol", "code"})
	duration := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "plaza_http_request_duration_seconds",
		Help:    "Time from the arrival of a request's header to the end of its answer.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .2, .25, .3, .5, .75, 1, 2.5, 5, 10, 30},
	}, []string{"procedure"})
	inFlight := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "plaza_http_requests_in_flight",
		Help: "Requests that are being answered.",
	})
	if registerer != nil {
		for _, collector := range []prometheus.Collector{requests, duration, inFlight} {
			if err := registerer.Register(collector); err != nil {
				return nil, err
			}
		}
	}
	m := &metrics{requests: requests, duration: map[string]prometheus.Observer{}, inFlight: inFlight, counts: counts}
	m.duration[procedureUnknown] = duration.WithLabelValues(procedureUnknown)
	for name := range methods {
		m.duration[name] = duration.WithLabelValues(name)
	}
	for _, s := range streams {
		m.duration[s.Procedure] = duration.WithLabelValues(s.Procedure)
	}
	return m, nil
}

func (m *metrics) observe(w *responseWriter, seconds float64) {
	outcome := w.outcome()
	m.requests.WithLabelValues(w.procedure, string(w.protocol), strconv.Itoa(outcome)).Inc()
	m.counts.add(w.procedure, outcome)
	if observer := m.duration[w.procedure]; observer != nil {
		observer.Observe(seconds)
	}
}
