package edge

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/ratelimit"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
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

// requestFrom returns the context of a request of a caller.
func requestFrom(t *testing.T, caller *auth.Caller) (context.Context, http.Header) {
	t.Helper()
	header := http.Header{}
	w := &responseWriter{ResponseWriter: headerWriter(header), peer: "192.0.2.1:5"}
	return auth.WithCaller(context.WithValue(t.Context(), responseWriterKey{}, w), caller), header
}

// TestRateLimitsByCaller checks which callers have a limit, and that those without one are counted.
func TestRateLimitsByCaller(t *testing.T) {
	t.Parallel()
	const token, session = plazav1connect.AuthenticationServiceCreateTokenProcedure, plazav1connect.SessionServiceCreateSessionProcedure
	for name, tc := range map[string]struct {
		caller    *auth.Caller
		procedure string
		refused   string // the detail of the second request
		kind      ratelimit.Kind
	}{
		"a user": {
			&auth.Caller{Kind: auth.User, UserID: "a", Home: region.US}, "", "the limit is 1/1h requests per user",
			ratelimit.Users,
		},
		"an administrator": {&auth.Caller{Kind: auth.Admin, Name: "a"}, "", "", ratelimit.Exempt},
		"a server key":     {&auth.Caller{KeyID: "k1"}, token, "", ratelimit.Exempt},
		"no server key":    {&auth.Caller{}, token, "", ""},
		"a sign-in":        {&auth.Caller{KeyID: "k1"}, session, "the limit is 1/1h sessions per address", ratelimit.SessionAddresses},
		"anonymous":        {&auth.Caller{}, "", "", ""},
	} {
		r := newRateLimits(t)
		ctx, header := requestFrom(t, tc.caller)
		require.NoError(t, r.admit(ctx, tc.procedure), name)
		err := r.admit(ctx, tc.procedure)
		if tc.refused == "" {
			require.NoError(t, err, name)
			require.Empty(t, header, name)
		} else {
			require.Equal(t, []string{tc.refused}, fail.From(err).Details, name)
			require.Equal(t, "0", header.Get(headerRemaining), name)
		}
		for _, kind := range ratelimit.Kinds() {
			want := 0.0
			if kind == tc.kind {
				want = 1
			}
			require.InDelta(t, want, testutil.ToFloat64(r.refused.WithLabelValues(string(kind))), 0, "%s: %s", name, kind)
		}
		require.NoError(t, r.admit(auth.WithCaller(t.Context(), tc.caller), tc.procedure), "outside of a request")
	}
}

// TestLimitsThatAreOff checks that a limit that is off limits nothing, and that all are off if that of users is.
func TestLimitsThatAreOff(t *testing.T) {
	t.Parallel()
	user := &auth.Caller{Kind: auth.User, UserID: "a", Home: region.EU}
	ctx, _ := requestFrom(t, user)
	one := ratelimit.Limit{Requests: 1, Per: time.Hour}
	for name, limits := range map[string]Limits{"this one": {Users: one}, "all": {Credentials: one, Downloads: one}} {
		r := newRateLimits(t)
		r.Limits = func() Limits { return limits }
		for range 3 {
			require.NoError(t, r.CountWrongCredential(ctx, "192.0.2.1"), name)
			anonymous, _ := requestFrom(t, &auth.Caller{})
			require.NoError(t, r.AdmitDownload(anonymous), name)
		}
		require.NoError(t, r.AdmitUser(ctx, user), name)
		require.Equal(t, limits.Users.IsOff(), r.AdmitUser(ctx, user) == nil, name)
	}
}

// TestAwaitSpare waits until half of the requests of a user are left. Callers without limits do not wait.
func TestAwaitSpare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRateLimits(t)
		r.Limiter = ratelimit.New(10, time.Now)
		r.Limits = func() Limits { return Limits{Users: ratelimit.Limit{Requests: 10, Per: 10 * time.Second}} }
		user := &auth.Caller{Kind: auth.User, UserID: "a", Home: region.EU}
		start := time.Now()
		for range 8 {
			require.NoError(t, r.AwaitSpare(t.Context(), user))
		}
		require.Equal(t, 3*time.Second, time.Since(start))
		for range 5 {
			require.NoError(t, r.AdmitUser(t.Context(), user))
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, r.AwaitSpare(ended, user), context.Canceled)
		for range 100 {
			require.NoError(t, r.AwaitSpare(t.Context(), &auth.Caller{Kind: auth.Admin}))
			require.NoError(t, r.AdmitUser(t.Context(), &auth.Caller{Kind: auth.Admin}))
		}
		require.Equal(t, 3*time.Second, time.Since(start))
	})
}

// TestMayStoreAnswer checks how many KiB of answers are stored for a user, each of which counts as one more than it fills.
func TestMayStoreAnswer(t *testing.T) {
	t.Parallel()
	r := newRateLimits(t)
	a, b := &auth.Caller{Kind: auth.User, UserID: "a", Home: region.EU}, &auth.Caller{Kind: auth.User, UserID: "b", Home: region.EU}
	for range 102 { // 10 KiB each
		require.True(t, r.MayStoreAnswer(a, 10<<10-1))
	}
	require.False(t, r.MayStoreAnswer(a, 4<<10))
	require.True(t, r.MayStoreAnswer(a, 4<<10-1))
	require.False(t, r.MayStoreAnswer(a, 0))
	require.True(t, r.MayStoreAnswer(b, 0), "another user")
	require.True(t, r.MayStoreAnswer(&auth.Caller{Kind: auth.Admin}, 1<<30))
	require.True(t, (*RateLimits)(nil).MayStoreAnswer(a, 0))
	require.InDelta(t, 2, testutil.ToFloat64(r.refused.WithLabelValues(string(ratelimit.StoredAnswers))), 0)
}

// TestAddressOf warns once of a proxy that is not trusted.
func TestAddressOf(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	r := newRateLimits(t)
	r.Log = slog.New(slog.NewTextHandler(&log, nil))
	w := &responseWriter{ResponseWriter: headerWriter(http.Header{}), peer: "10.0.0.1:5"}
	ctx := context.WithValue(t.Context(), responseWriterKey{}, w)
	require.Equal(t, "10.0.0.1", r.AddressOf(ctx))
	require.Empty(t, log.String())
	w.forwarded = []string{"203.0.113.9"}
	for range 2 {
		require.Equal(t, "10.0.0.1", r.AddressOf(ctx))
	}
	require.Equal(t, 1, strings.Count(log.String(), "trusted-proxies is not set"))
	require.NoError(t, r.Proxies.UnmarshalText([]byte("1")))
	require.Equal(t, "203.0.113.9", r.AddressOf(ctx))
	require.Equal(t, Client{Address: "203.0.113.9"}, ClientOf(ctx, r.Proxies))
	require.Empty(t, r.AddressOf(t.Context()))
	require.Zero(t, ClientOf(t.Context(), r.Proxies))
}
