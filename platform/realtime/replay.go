package realtime

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fairqueue"
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
	return r.limits.AwaitSpare(ctx, r.caller)
}

// asUser returns a context in which reads count as those of the user.
func (r *replay) asUser(ctx context.Context) context.Context {
	return fairqueue.WithUser(ctx, r.caller.UserID)
}
