package auth_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
)

func TestVerifyCachesTokens(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	token := mint(t, issuer)
	first, err := issuer.Verify(token)
	require.NoError(t, err)
	require.Equal(t, 1, auth.CachedTokens(issuer))
	again, err := issuer.Verify(token)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Equal(t, 1, auth.CachedTokens(issuer))
}

// TestCachedTokensExpire changes what a token's validity depends on after it was cached: the result must be the same as
// without the cache.
func TestCachedTokensExpire(t *testing.T) {
	t.Parallel()
	until := start.Add(30 * time.Minute).Format(time.RFC3339)
	for name, tc := range map[string]struct {
		move    time.Duration
		signing string // the new content of the key file; empty for no change
		cause   error
	}{
		"no change":             {0, "", nil},
		"within the leeway":     {time.Hour + 5*time.Second, "", nil},
		"past the leeway":       {time.Hour + 11*time.Second, "", auth.ErrTokenExpired},
		"clock a little behind": {-5 * time.Second, "", nil},
		"clock set back":        {-time.Minute, "", auth.ErrTokenFromFuture},
		"key removed":           {2 * time.Second, seeds([3]string{"s2", "b", ""}), auth.ErrTokenUnsigned},
		"key replaced":          {2 * time.Second, seeds([3]string{"s1", "b", ""}), auth.ErrTokenUnsigned},
		"key given an expiry":   {31 * time.Minute, seeds([3]string{"s1", "a", until}, [3]string{"s2", "b", ""}), auth.ErrTokenUnsigned},
		"key moved back":        {2 * time.Second, seeds([3]string{"s2", "b", ""}, [3]string{"s1", "a", ""}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			ring, path := openKeyring(t, seeds([3]string{"s1", "a", ""}), auth.WithClock(c.Now))
			issuer := auth.NewIssuer(networkID, ring, auth.WithIssuerClock(c.Now), auth.WithAccessLifetime(time.Hour))
			token := mint(t, issuer)
			want, err := issuer.Verify(token)
			require.NoError(t, err)
			if tc.signing != "" {
				writeFile(t, path, tc.signing)
			}
			c.Move(tc.move)
			got, err := issuer.Verify(token)
			if tc.cause == nil {
				require.NoError(t, err)
				require.Equal(t, want, got)
				return
			}
			requireCause(t, err, fail.Unauthorized(), tc.cause)
		})
	}
}

// TestCachedTokenOfExpiredKey does not change the file: the key's own expiry is enough.
func TestCachedTokenOfExpiredKey(t *testing.T) {
	t.Parallel()
	c := newClock()
	end := start.Add(time.Hour).Format(time.RFC3339)
	ring, _ := openKeyring(t, seeds([3]string{"s1", "a", end}, [3]string{"s2", "b", ""}), auth.WithClock(c.Now))
	issuer := auth.NewIssuer(networkID, ring, auth.WithIssuerClock(c.Now))
	claims := body()
	claims["exp"] = start.Add(24 * time.Hour).Unix()
	token := sign(t, jwt.SigningMethodEdDSA, private("a"), map[string]any{"kid": "s1"}, claims)
	_, err := issuer.Verify(token)
	require.NoError(t, err)
	c.Move(time.Hour + time.Second)
	_, err = issuer.Verify(token)
	requireCause(t, err, fail.Unauthorized(), auth.ErrTokenUnsigned)
}

func TestVerifyDoesNotCacheInvalidTokens(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	token := mint(t, issuer)
	_, err := issuer.Verify(token)
	require.NoError(t, err)
	parts := strings.Split(token, ".")
	forged := parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"x"}`)) + "." + parts[2]
	for range 3 {
		for _, bad := range []string{forged, token + "x", token[:len(token)-3], strings.ToLower(token), "", "hello"} {
			_, err := issuer.Verify(bad)
			require.ErrorIs(t, err, fail.Unauthorized(), bad)
		}
	}
	require.Equal(t, 1, auth.CachedTokens(issuer))
}

func TestVerifyDoesNotCacheNotBefore(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	claims := body()
	claims["nbf"] = start.Add(-time.Minute).Unix()
	_, err := issuer.Verify(sign(t, jwt.SigningMethodEdDSA, private("a"), map[string]any{"kid": "s1"}, claims))
	require.NoError(t, err)
	require.Zero(t, auth.CachedTokens(issuer))
}

func BenchmarkVerify(b *testing.B) {
	issuer := newIssuer(b, newClock())
	token := mint(b, issuer)
	for b.Loop() {
		if _, err := issuer.Verify(token); err != nil {
			b.Fatal(err)
		}
	}
}
