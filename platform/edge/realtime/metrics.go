package realtime

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics are the metrics of streams and events.
type metrics struct {
	streams *prometheus.GaugeVec
	written *prometheus.CounterVec
	ended   *prometheus.CounterVec
	latency prometheus.Histogram

	connections prometheus.Gauge
	published   *prometheus.CounterVec
}

// newMetrics registers the metrics unless registerer is nil.
func newMetrics(registerer prometheus.Registerer) *metrics {
	register := promauto.With(registerer)
	return &metrics{
		connections: register.NewGauge(prometheus.GaugeOpts{
			Name: "plaza_mqtt_connections", Help: "Connections of users by MQTT.",
		}),
		published: register.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_mqtt_messages_total", Help: "Messages queued for MQTT connections, counted once per connection.",
		}, []string{"event"}),
		streams: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "plaza_realtime_streams", Help: "Open streams of realtime events.",
		}, []string{"event"}),
		written: register.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_realtime_events_total", Help: "Realtime events written to streams, counted once per stream.",
		}, []string{"event"}),
		ended: register.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_realtime_streams_ended_total", Help: "Streams ended by the server, by the reason sent to the client.",
		}, []string{"reason"}),
		latency: register.NewHistogram(prometheus.HistogramOpts{
			Name:    "plaza_realtime_delay_seconds",
			Help:    "Time from an event to its delivery to the streams of this server.",
			Buckets: []float64{.025, .1, .25, 1, 2.5, 5, 10, 60},
		}),
	}
}
