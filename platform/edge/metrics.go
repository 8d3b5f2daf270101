package edge

import (
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
)

// metrics counts requests. All labels have a limited number of values, and no two of them multiply to more than three
// series for each operation: a scrape must stay cheap when every operation is in use.
type metrics struct {
	requests  *prometheus.CounterVec
	responses *prometheus.CounterVec
	duration  map[string][]prometheus.Observer // by procedure; streams of events have none
	inFlight  prometheus.Gauge
	// unauthorized counts requests with status 401 by reason.
	unauthorized *prometheus.CounterVec
	counts       *Counts
}

// The kinds of requests, whose durations are measured separately.
const (
	kindOperation = "operation"
	kindTransfer  = "transfer" // of a file; the duration depends on the connection of the client
)

// newMetrics registers the metrics, unless registerer is nil.
func newMetrics(registerer prometheus.Registerer, counts *Counts, methods map[string]*method, streams []Stream) (*metrics, error) {
	m := &metrics{
		counts: counts,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_http_requests_total",
			Help: "Requests by operation and class of the HTTP status (2xx, 4xx, 5xx); over gRPC, of the status that REST would have had.",
		}, []string{"procedure", "code"}),
		responses: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_http_responses_total",
			Help: "Requests by protocol and HTTP status; over gRPC, the status that REST would have had.",
		}, []string{"protocol", "code"}),
		duration: map[string][]prometheus.Observer{},
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "plaza_http_requests_in_flight",
			Help: "Requests that are being answered.",
		}),
		unauthorized: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_unauthorized_total",
			Help: "Requests and sign-ins whose credentials were refused, by reason.",
		}, []string{"reason"}),
	}
	for _, reason := range auth.Reasons() {
		m.unauthorized.WithLabelValues(reason)
	}
	byKind := newDurations("plaza_http_request_duration_seconds", "kind",
		"Time from the arrival of a request's header to the end of its answer, by kind: operation, transfer (of a file), unknown.",
		kindBuckets)
	byService := newDurations("plaza_http_service_duration_seconds", "service",
		"Time from the arrival of a request's header to the end of its answer, by service.", serviceBuckets)
	m.addDurations(byKind, byService, methods, streams)
	if registerer == nil {
		return m, nil
	}
	for _, collector := range []prometheus.Collector{m.requests, m.responses, byKind, byService, m.inFlight, m.unauthorized} {
		if err := registerer.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Classic buckets, for those who do not collect native histograms. Alerts compare the durations by kind with any
// objective from 5 ms to 10 s; those by service only show where the time is spent.
var (
	kindBuckets    = []float64{.001, .0025, .005, .01, .025, .05, .1, .2, .25, .3, .5, .75, 1, 2.5, 5, 10, 30}
	serviceBuckets = []float64{.1, 1}
)

// newDurations returns a native histogram whose buckets differ by at most 10%, with some classic buckets.
func newDurations(name, label, help string, classic []float64) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: classic,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
	}, []string{label})
}

func (m *metrics) addDurations(byKind, byService *prometheus.HistogramVec, methods map[string]*method, streams []Stream) {
	add := func(procedure, kind string) {
		m.duration[procedure] = []prometheus.Observer{byKind.WithLabelValues(kind), byService.WithLabelValues(serviceOf(procedure))}
	}
	m.duration[procedureUnknown] = []prometheus.Observer{byKind.WithLabelValues(procedureUnknown)}
	for name := range methods {
		add(name, kindOperation)
	}
	for _, s := range streams {
		add(s.Procedure, kindTransfer)
	}
}

// operationOf returns a procedure without its package, which all of them have: PostService/GetPost of /plaza.v1.PostService/GetPost.
func operationOf(procedure string) string { return strings.TrimPrefix(procedure, "/plaza.v1.") }

// serviceOf returns the service of a procedure: PostService of /plaza.v1.PostService/GetPost.
func serviceOf(procedure string) string {
	service, _, _ := strings.Cut(strings.TrimPrefix(procedure, "/"), "/")
	return service[strings.LastIndexByte(service, '.')+1:]
}

// observe records the end of a request, with the id of its trace if that is exported.
func (m *metrics) observe(w *responseWriter, seconds float64, traceID string) {
	status := w.outcome()
	m.requests.WithLabelValues(operationOf(w.procedure), classOf(status)).Inc()
	m.responses.WithLabelValues(string(w.protocol), strconv.Itoa(status)).Inc()
	m.counts.add(w.procedure, status)
	if w.failure != nil && w.failure.Code == fail.CodeUnauthorized {
		m.unauthorized.WithLabelValues(auth.ReasonOf(w.failure)).Inc()
	}
	for _, observer := range m.duration[w.procedure] {
		if exemplars, ok := observer.(prometheus.ExemplarObserver); ok && traceID != "" {
			exemplars.ObserveWithExemplar(seconds, prometheus.Labels{"trace_id": traceID})
			continue
		}
		observer.Observe(seconds)
	}
}

// classOf returns the class of an HTTP status: 4xx of 404.
func classOf(status int) string {
	switch {
	case status < 300:
		return "2xx"
	case status < 400:
		return "3xx"
	case status < 500:
		return "4xx"
	}
	return "5xx"
}
