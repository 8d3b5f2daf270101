package realtime

import "github.com/prometheus/client_golang/prometheus"

// metrics are the metrics of streams and events.
type metrics struct {
	streams *prometheus.GaugeVec
	written *prometheus.CounterVec
	ended   *prometheus.CounterVec
	latency prometheus.Histogram
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		streams: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "plaza_realtime_streams", Help: "Open streams of realtime events.",
		}, []string{"event"}),
		written: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_realtime_events_total", Help: "Realtime events written to streams, counted once per stream.",
		}, []string{"event"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_realtime_streams_ended_total", Help: "Streams ended by the server, by the reason sent to the client.",
		}, []string{"reason"}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "plaza_realtime_delay_seconds",
			Help:    "Time from an event to its delivery to the streams of this server.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
		}),
	}
	if registerer == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.streams, m.written, m.ended, m.latency} {
		if err := registerer.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}
