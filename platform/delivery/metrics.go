package delivery

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/plaza-social/plaza/platform/store/network"
)

// metrics are the metrics of webhooks. The gauges are those of the server that has the lease.
type metrics struct {
	deliveries *prometheus.CounterVec
	lost       *prometheus.CounterVec
	oldest     *prometheus.GaugeVec
	dead       *prometheus.GaugeVec
}

// newMetrics registers the metrics unless registerer is nil.
func newMetrics(registerer prometheus.Registerer) *metrics {
	register := promauto.With(registerer)
	return &metrics{
		deliveries: register.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_webhook_deliveries_total", Help: "Attempts to deliver an event to a webhook, by result: delivered, failed, dead.",
		}, []string{"webhook", "result"}),
		lost: register.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_webhook_events_lost_total", Help: "Events that were removed from the log before a webhook read them.",
		}, []string{"webhook"}),
		oldest: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "plaza_webhook_oldest_delivery_seconds", Help: "Age of the oldest event that waits for delivery to a webhook, 0 if none does.",
		}, []string{"webhook", "home"}),
		dead: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "plaza_webhook_dead_letters", Help: "Events that could not be delivered to a webhook.",
		}, []string{"webhook", "home"}),
	}
}

// resultOf returns the result of an attempt by the state after it.
func resultOf(state string) string {
	if state == network.DeliveryWaiting {
		return "failed"
	}
	return state
}

// begin makes the counters of a webhook exist, so that the first failure is an increase.
func (m *metrics) begin(id string) {
	for _, state := range []string{network.DeliveryWaiting, network.DeliveryDelivered, network.DeliveryDead} {
		m.deliveries.WithLabelValues(id, resultOf(state))
	}
}

// set sets the gauges of a webhook. oldest is zero if no event waits.
func (m *metrics) set(key queueKey, oldest time.Time, dead int64, now time.Time) {
	age := time.Duration(0)
	if !oldest.IsZero() {
		age = max(0, now.Sub(oldest))
	}
	m.oldest.WithLabelValues(key.id, key.home.String()).Set(age.Seconds())
	m.dead.WithLabelValues(key.id, key.home.String()).Set(float64(dead))
}

// forget removes the gauges of a webhook that this server does not send events to any more.
func (m *metrics) forget(key queueKey) {
	m.oldest.DeleteLabelValues(key.id, key.home.String())
	m.dead.DeleteLabelValues(key.id, key.home.String())
}
