package edge

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/ratelimit"
)

// AddressOf returns the address of the client of the request that ctx belongs to.
func (r *RateLimits) AddressOf(ctx context.Context) string {
	w := responseWriterFrom(ctx)
	if r == nil || w == nil {
		return ""
	}
	if r.Proxies.IsZero() && len(w.forwarded) > 0 {
		r.warnProxy.Do(func() {
			r.Log.WarnContext(ctx,
				"a request has X-Forwarded-For, but trusted-proxies is not set: all clients of a proxy share the rate limits of its address")
		})
	}
	return r.Proxies.ClientAddress(w.peer, w.forwarded)
}

// CountWrongCredential counts a wrong credential from an address. It returns an error with fail.CodeRateLimited once there were too many.
func (r *RateLimits) CountWrongCredential(ctx context.Context, address string) error {
	limits, active := r.current()
	if !active {
		return nil
	}
	return r.take(ctx, r.keyOf(ratelimit.WrongCredentials, address), limits.Credentials, "wrong credentials per address")
}

// AdmitUser takes a request from the bucket of a user for what is not a request of HTTP. It returns an error with fail.CodeRateLimited if
// the bucket is empty.
func (r *RateLimits) AdmitUser(ctx context.Context, caller *auth.Caller) error {
	limits, active := r.current()
	if !active || caller.Kind != auth.User {
		return nil
	}
	return r.take(ctx, keyOfUser(caller), limits.Users, "requests per user")
}

// AwaitSpare waits until the bucket of a user is at least half full, and takes a request from it. What can wait thereby leaves the other
// half to the user's requests. The error is that of ctx.
func (r *RateLimits) AwaitSpare(ctx context.Context, caller *auth.Caller) error {
	for caller.Kind == auth.User {
		limits, active := r.current()
		if !active {
			break
		}
		state := r.Limiter.AdmitSpare(ctx, keyOfUser(caller), limits.Users)
		if state.Allowed {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(state.RetryAfter):
		}
	}
	return nil
}
