package edge

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/ratelimit"
	"github.com/plaza-social/plaza/platform/region"
)

func TestSecondsRoundUp(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0", time.Nanosecond: "1", time.Second - 1: "1", time.Second: "1", time.Second + 1: "2", time.Hour: "3600",
	} {
		require.Equal(t, want, seconds(d), d)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	header := http.Header{}
	setRetryAfter(header, fail.NotFound())
	require.NotContains(t, header, headerRetryAfter)
	setRetryAfter(header, fail.RateLimited("limit", 1500*time.Millisecond))
	require.Equal(t, "2", header.Get(headerRetryAfter))
}

func TestRateLimitHeaders(t *testing.T) {
	t.Parallel()
	header := http.Header{}
	setRateLimitHeaders(header, ratelimit.State{
		Limit: ratelimit.Limit{Requests: 100, Per: time.Minute}, Remaining: 7, Reset: 1100 * time.Millisecond,
	})
	require.Equal(t, http.Header{
		headerLimit: {"100"}, headerPolicy: {"100;w=60"}, headerRemaining: {"7"}, headerReset: {"2"},
	}, header)
}

func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cause error
		want  bool
	}{
		"no credentials":     {auth.ErrNoCredentials, false},
		"an expired token":   {auth.ErrTokenExpired, false},
		"a revoked session":  {auth.ErrSessionRevoked, false},
		"a deleted user":     {auth.ErrDeletedUser, false},
		"an unknown user":    {auth.ErrUnknownUser, true},
		"another key":        {errors.New("signature"), true},
		"without any cause":  {nil, false},
		"a wrapped harmless": {fail.Unauthorized().Because(auth.ErrTokenExpired), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed := fail.Unauthorized()
			if test.cause != nil {
				failed = failed.Because(test.cause)
			}
			require.Equal(t, test.want, isWrong(failed))
		})
	}
}

// newRateLimits returns rate limits with one request of each kind in an hour.
func newRateLimits(t *testing.T) *RateLimits {
	t.Helper()
	one := ratelimit.Limit{Requests: 1, Per: time.Hour}
	r := &RateLimits{
		Limiter: ratelimit.New(10, func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }),
		Limits: func() Limits {
			return Limits{Users: one, SessionAddresses: one, SessionKeys: one, Credentials: one, Downloads: one}
		},
		Region: region.EU, Log: slog.New(slog.DiscardHandler),
	}
	require.NoError(t, r.register(nil))
	return r
}

func TestWrongCredentialsPerAddress(t *testing.T) {
	t.Parallel()
	r := newRateLimits(t)
	from := func(address string) context.Context {
		return context.WithValue(t.Context(), responseWriterKey{}, &responseWriter{ResponseWriter: headerWriter(http.Header{}), peer: address})
	}
	wrong := fail.Unauthorized().Because(auth.ErrUnknownUser)
	require.Same(t, wrong, r.wrongCredential(from("192.0.2.1:5"), wrong), "at the limit")
	refused := r.wrongCredential(from("192.0.2.1:6"), wrong)
	require.Equal(t, fail.CodeRateLimited, refused.Code, "one past the limit, from another port")
	require.ErrorIs(t, refused, auth.ErrUnknownUser, "the log has the cause")
	require.Same(t, wrong, r.wrongCredential(from("192.0.2.2:5"), wrong), "another address")
	forbidden := fail.NotAllowed()
	require.Same(t, forbidden, r.wrongCredential(from("192.0.2.1:5"), forbidden), "not a credential")
	expired := fail.Unauthorized().Because(auth.ErrTokenExpired)
	require.Same(t, expired, r.wrongCredential(from("192.0.2.1:5"), expired))
	require.Same(t, wrong, (*RateLimits)(nil).wrongCredential(from("192.0.2.1:5"), wrong), "no limits")
	require.InDelta(t, 1, testutil.ToFloat64(r.refused.WithLabelValues(string(ratelimit.WrongCredentials))), 0)
}
