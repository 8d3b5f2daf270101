package auth_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
)

// TestTokenCacheMetrics verifies a token three times: the first time its signature, then from the cache.
func TestTokenCacheMetrics(t *testing.T) {
	issuer, registry := newIssuer(t, newClock()), prometheus.NewRegistry()
	require.NoError(t, issuer.Register(registry))
	token := mint(t, issuer)
	for range 3 {
		_, err := issuer.Verify(token)
		require.NoError(t, err)
	}
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP plaza_token_cache_requests_total Tokens looked up in the cache of verified tokens, by result: hit, or miss, after which the signature was verified.
# TYPE plaza_token_cache_requests_total counter
plaza_token_cache_requests_total{result="hit"} 2
plaza_token_cache_requests_total{result="miss"} 1
`)))
}

func TestReasonOf(t *testing.T) {
	for want, cause := range map[string]error{
		"no_credentials": auth.ErrNoCredentials, "token_expired": auth.ErrTokenExpired, "session_revoked": auth.ErrSessionRevoked,
		"wrong_key": auth.ErrWrongKey, "other": errors.New("unknown"),
	} {
		require.Equal(t, want, auth.ReasonOf(fail.Unauthorized().Because(cause)))
		require.Contains(t, auth.Reasons(), want)
	}
	require.Equal(t, "other", auth.ReasonOf(fail.Unauthorized()))
}
