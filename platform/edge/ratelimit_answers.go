package edge

import (
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/ratelimit"
)

// storedAnswers is how many KiB of answers are stored for the idempotency keys of a user. No setting changes it.
var storedAnswers = ratelimit.Limit{Requests: 1 << 10, Per: time.Hour}

// MayStoreAnswer reports whether an answer of a number of bytes may be stored for an idempotency key of a caller. It limits users only.
func (r *RateLimits) MayStoreAnswer(caller *auth.Caller, bytes int) bool {
	if r == nil || caller.Kind != auth.User || defence.Off(defence.StoredAnswers) {
		return true
	}
	key := ratelimit.Key{Kind: ratelimit.StoredAnswers, Home: caller.Home, ID: caller.UserID}
	if r.Limiter.TakeN(key, storedAnswers, bytes>>10+1).Allowed {
		return true
	}
	r.refused.WithLabelValues(string(ratelimit.StoredAnswers)).Inc()
	return false
}
