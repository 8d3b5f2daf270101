package realtime

import (
	"cmp"
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/defence"
)

// replayedPerRequest is the number of events of a stream that resumes which count as one request of the rate limit of users.
const replayedPerRequest = 5

// replay counts the events that a stream has missed, since each of them makes the server read.
type replay struct {
	limits RateLimits
	caller *auth.Caller
	events int
}

// admit waits until the rate limit of the user allows one more event.
func (r *replay) admit(ctx context.Context) error {
	r.events++
	if r.events%replayedPerRequest != 1 {
		return nil
	}
	return r.admitSome(ctx)
}

// admitSome waits until the rate limit of the user allows the events that count as one request.
func (r *replay) admitSome(ctx context.Context) error {
	if defence.Off(defence.ReplayRate) {
		return nil
	}
	return r.limits.AwaitSpare(ctx, r.caller)
}

// interrupted ends a stream whose missed events were not all written, for the reason for which it ended, if any: the client resumes
// after the last event that was written.
func (h *Hub) interrupted(out *writer, reason string) {
	select {
	case <-h.closing:
		reason = cmp.Or(reason, endShutdown)
	default:
	}
	if reason != "" {
		out.end(reason)
		h.metrics.ended.WithLabelValues(reason).Inc()
	}
}
