package realtime

import (
	"context"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
)

// Streams returns the number of open streams of all homes.
func (h *Hub) Streams() int {
	n := 0
	for _, t := range h.tails {
		n += len(t.open())
	}
	return n
}

// CheckSessions checks the sessions of the streams and connections of a home.
func (h *Hub) CheckSessions(ctx context.Context, home region.Code) {
	t := h.tails[home]
	t.checkSessions(ctx, t.open())
}

// Held returns how much the hub holds of streams and connections, and of the subscriptions to a topic.
func (h *Hub) Held(topic string) map[string]int {
	b, held := h.broker, map[string]int{}
	h.mu.Lock()
	held["users"] = len(h.streams)
	for _, n := range h.streams {
		held["streams of users"] += n
	}
	h.mu.Unlock()
	for _, t := range h.tails {
		t.mu.Lock()
		held["watched sessions"] += len(t.attached)
		t.mu.Unlock()
	}
	held["subscriptions"] = len(b.server.Topics.Subscribers(topic).Subscriptions)
	held["clients of the library"] = b.server.Clients.Len()
	held["subscribers"] = int(b.count.Load())
	held["connections"] = int(testutil.ToFloat64(h.metrics.connections))
	for _, name := range []string{events.MarkerUserSync, severalEvents} {
		held["streams in the metrics"] += int(testutil.ToFloat64(h.metrics.streams.WithLabelValues(name)))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	held["clients"], held["watches"] = len(b.clients), len(b.watches)
	return held
}

// Expiries returns a function that returns how many of the current subscribers would still be ended at the expiry of their tokens.
func (h *Hub) Expiries() (running func() int) {
	all := h.broker.all()
	return func() int {
		n := 0
		for _, c := range all {
			if c.expiry.Stop() {
				n++
			}
		}
		return n
	}
}
