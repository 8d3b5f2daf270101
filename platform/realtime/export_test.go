package realtime

import (
	"context"

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
