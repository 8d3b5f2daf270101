package edge

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/ratelimit"
	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Limits are the rate limits of a server. If Users is off, all are.
type Limits struct {
	Users            ratelimit.Limit // requests of a user
	SessionAddresses ratelimit.Limit // sessions created from an address
	SessionKeys      ratelimit.Limit // sessions created with an API key
	Credentials      ratelimit.Limit // wrong credentials from an address
	Downloads        ratelimit.Limit // downloads without a token from an address
}

// RateLimits applies the rate limits to requests of all protocols. Administrators and server keys are not limited, but
// logged when they exceed the limit of a user. A nil *RateLimits limits nothing.
type RateLimits struct {
	Limiter *ratelimit.Limiter
	// Limits returns the limits that apply now.
	Limits  func() Limits
	Proxies ratelimit.Proxies
	Region  region.Code // of this server
	// Identify returns ctx with the caller that the headers identify, who is not confirmed yet.
	Identify func(ctx context.Context, header http.Header) (context.Context, error)
	Log      *slog.Logger

	refused   *prometheus.CounterVec
	warnProxy sync.Once
	exempt    rate.Sometimes
}

// exemptLogEvery is the minimum interval between two log lines about callers without limits.
const exemptLogEvery = time.Minute

// register registers the metric, unless registerer is nil.
func (r *RateLimits) register(registerer prometheus.Registerer) error {
	if r == nil {
		return nil
	}
	r.exempt.Interval = exemptLogEvery
	r.refused = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "plaza_rate_limited_total",
		Help: "Requests beyond a rate limit by limit. Those whose answers were not stored (stored_answer), and those of administrators and " +
			"server keys (exempt), were not refused.",
	}, []string{"limit"})
	for _, kind := range ratelimit.Kinds() {
		r.refused.WithLabelValues(string(kind))
	}
	if registerer == nil {
		return nil
	}
	return registerer.Register(r.refused)
}

// intercept is the interceptor behind authentication.
func (r *RateLimits) intercept(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		if err := r.admit(ctx, request.Spec().Procedure); err != nil {
			return nil, err
		}
		return next(ctx, request)
	}
}

// AdmitRequest returns ctx with the caller that the headers of a request identify, after admitting the request. It serves
// requests that do not pass the interceptors.
func (r *RateLimits) AdmitRequest(ctx context.Context, header http.Header) (context.Context, error) {
	ctx, err := r.Identify(ctx, header)
	if err != nil {
		return nil, err
	}
	return ctx, r.admit(ctx, "")
}

// admit takes a request from the buckets of its caller.
func (r *RateLimits) admit(ctx context.Context, procedure string) error {
	limits, active := r.current()
	if !active || responseWriterFrom(ctx) == nil {
		return nil
	}
	caller := auth.CallerFrom(ctx)
	switch {
	case caller.Kind == auth.User:
		return r.take(ctx, keyOfUser(caller), limits.Users, "requests per user")
	case caller.Kind == auth.Admin || caller.KeyID != "" && accessOf(procedure) == plazav1.Access_CALLER_SERVER_KEY:
		r.observe(ctx, caller, limits.Users)
	case accessOf(procedure) == plazav1.Access_CALLER_API_KEY:
		if err := r.take(ctx, r.keyOf(ratelimit.SessionAddresses, r.AddressOf(ctx)), limits.SessionAddresses,
			"sessions per address"); err != nil {
			return err
		}
		return r.take(ctx, r.keyOf(ratelimit.SessionKeys, caller.KeyID), limits.SessionKeys, "sessions per API key")
	}
	return nil
}

// AdmitDownload takes a download from the bucket of its caller, or of its address if it has no valid token.
func (r *RateLimits) AdmitDownload(ctx context.Context) error {
	if auth.CallerFrom(ctx).Kind != auth.Anonymous {
		return r.admit(ctx, "")
	}
	limits, active := r.current()
	if !active || responseWriterFrom(ctx) == nil {
		return nil
	}
	return r.take(ctx, r.keyOf(ratelimit.Downloads, r.AddressOf(ctx)), limits.Downloads, "downloads without a token per address")
}

func accessOf(procedure string) plazav1.Access_Caller {
	access, _ := auth.AccessOf(procedure)
	return access.Caller
}

func (r *RateLimits) current() (limits Limits, active bool) {
	if r == nil {
		return Limits{}, false
	}
	limits = r.Limits()
	return limits, !limits.Users.IsOff()
}

// keyOf returns the key of a bucket that the servers of this region share.
func (r *RateLimits) keyOf(kind ratelimit.Kind, id string) ratelimit.Key {
	return ratelimit.Key{Kind: kind, Home: r.Region, ID: id}
}

// keyOfUser returns the key of the bucket of a user.
func keyOfUser(caller *auth.Caller) ratelimit.Key {
	return ratelimit.Key{Kind: ratelimit.Users, Home: caller.Home, ID: caller.UserID}
}

// take takes a request from a bucket, and sets the headers that describe it if ctx is that of a request. what names the limit for the
// client.
func (r *RateLimits) take(ctx context.Context, key ratelimit.Key, limit ratelimit.Limit, what string) error {
	if limit.IsOff() {
		return nil
	}
	state := r.Limiter.Admit(ctx, key, limit)
	if w := responseWriterFrom(ctx); w != nil {
		setRateLimitHeaders(w.Header(), state)
	}
	if state.Allowed {
		return nil
	}
	r.refused.WithLabelValues(string(key.Kind)).Inc()
	return fail.RateLimited("the limit is "+limit.String()+" "+what, state.RetryAfter)
}

// observe logs a caller without limits who exceeds the limit of a user.
func (r *RateLimits) observe(ctx context.Context, caller *auth.Caller, limit ratelimit.Limit) {
	state := r.Limiter.Take(r.keyOf(ratelimit.Exempt, caller.Name+" "+caller.KeyID), limit)
	if state.Allowed {
		return
	}
	r.refused.WithLabelValues(string(ratelimit.Exempt)).Inc()
	r.exempt.Do(func() {
		r.Log.WarnContext(ctx, "a caller without rate limit exceeds the limit of users", "caller", caller, "limit", limit.String())
	})
}

// wrongCredential counts a wrong credential, and returns the error that replaces failed once there were too many. Right
// credentials are accepted nevertheless: they cannot be guessed, and many users may share an address.
func (r *RateLimits) wrongCredential(ctx context.Context, failed *fail.Error) *fail.Error {
	if r == nil || responseWriterFrom(ctx) == nil || failed.Code != fail.CodeUnauthorized || !isWrong(failed) {
		return failed
	}
	if err := r.CountWrongCredential(ctx, r.AddressOf(ctx)); err != nil {
		return fail.From(err).Because(failed)
	}
	return failed
}

// isWrong reports whether a credential was wrong, rather than absent, expired or revoked.
func isWrong(failed *fail.Error) bool {
	for _, harmless := range []error{auth.ErrNoCredentials, auth.ErrTokenExpired, auth.ErrSessionRevoked, auth.ErrDeletedUser} {
		if errors.Is(failed, harmless) {
			return false
		}
	}
	return failed.Unwrap() != nil
}

// Headers of rate limits (draft-ietf-httpapi-ratelimit-headers-03), in seconds.
const (
	headerLimit      = "Ratelimit-Limit"
	headerPolicy     = "Ratelimit-Policy"
	headerRemaining  = "Ratelimit-Remaining"
	headerReset      = "Ratelimit-Reset"
	headerRetryAfter = "Retry-After"
)

func setRateLimitHeaders(header http.Header, s ratelimit.State) {
	limit := strconv.Itoa(s.Limit.Requests)
	header[headerLimit] = []string{limit}
	header[headerPolicy] = []string{limit + ";w=" + seconds(s.Limit.Per)}
	header[headerRemaining] = []string{strconv.Itoa(s.Remaining)}
	header[headerReset] = []string{seconds(s.Reset)}
}

// setRetryAfter sets the header of an error that says when to try again.
func setRetryAfter(header http.Header, failed *fail.Error) {
	if failed.RetryAfter > 0 {
		header[headerRetryAfter] = []string{seconds(failed.RetryAfter)}
	}
}

// seconds rounds up.
func seconds(d time.Duration) string { return strconv.FormatInt(int64(math.Ceil(d.Seconds())), 10) }

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
