package auth_test

import (
	"encoding/base64"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
)

func TestAuthTokenLength(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	for _, id := range []string{"a", strings.Repeat("u", 50), "ünï cödé 🙂"} {
		token, err := issuer.MintAuthToken(id)
		require.NoError(t, err)
		require.Len(t, token, 68)
		require.NoError(t, issuer.CheckAuthToken(id, token))
		again, err := issuer.MintAuthToken(id)
		require.NoError(t, err)
		require.NotEqual(t, token, again)
	}
}

func TestCheckAuthToken(t *testing.T) {
	t.Parallel()
	c := newClock()
	issuer := newIssuer(t, c)
	good, err := issuer.MintAuthToken("alice")
	require.NoError(t, err)
	otherNetwork := auth.NewIssuer("ffffffffffffffffffffffff", ringOf(t, c, "s1", "a"), auth.WithIssuerClock(c.Now))
	foreign, err := otherNetwork.MintAuthToken("alice")
	require.NoError(t, err)
	otherKey, err := auth.NewIssuer(networkID, ringOf(t, c, "s1", "b"), auth.WithIssuerClock(c.Now)).MintAuthToken("alice")
	require.NoError(t, err)
	otherKid, err := auth.NewIssuer(networkID, ringOf(t, c, "s2", "a"), auth.WithIssuerClock(c.Now)).MintAuthToken("alice")
	require.NoError(t, err)
	raw, err := base64.RawURLEncoding.DecodeString(good[4:])
	require.NoError(t, err)

	for name, tc := range map[string]struct {
		user, token string
		cause       error
	}{
		"good":                {"alice", good, nil},
		"another user":        {"bob", good, fail.Unauthorized()},
		"user id in capitals": {"Alice", good, fail.Unauthorized()},
		"no user":             {"", good, fail.Unauthorized()},
		"no token":            {"alice", "", auth.ErrTokenMalformed},
		"no prefix":           {"alice", good[4:], auth.ErrTokenMalformed},
		"another prefix":      {"alice", "pz2." + good[4:], auth.ErrTokenMalformed},
		"short":               {"alice", good[:67], auth.ErrTokenMalformed},
		"long":                {"alice", good + "A", auth.ErrTokenMalformed},
		"not base64url":       {"alice", good[:67] + "+", auth.ErrTokenMalformed},
		"line breaks inside":  {"alice", good[:66] + "\r\n", auth.ErrTokenMalformed},
		"only line breaks":    {"alice", good[:64] + "\r\n\r\n", auth.ErrTokenMalformed},
		"another network":     {"alice", foreign, fail.Unauthorized()},
		"another key":         {"alice", otherKey, fail.Unauthorized()},
		"unknown key":         {"alice", otherKid, auth.ErrTokenUnsigned},
		"an access token":     {"alice", mint(t, issuer), auth.ErrTokenMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			err := issuer.CheckAuthToken(tc.user, tc.token)
			if tc.cause == nil {
				require.NoError(t, err)
				return
			}
			requireCause(t, err, fail.Unauthorized(), tc.cause)
			if len(tc.token) > 20 {
				require.NotContains(t, printed(t, err), tc.token[:20])
			}
		})
	}
	for i := range raw {
		spoilt := append([]byte(nil), raw...)
		spoilt[i] ^= 1
		token := "pz1." + base64.RawURLEncoding.EncodeToString(spoilt)
		require.ErrorIs(t, issuer.CheckAuthToken("alice", token), fail.Unauthorized(), "byte %d", i)
	}
}

func TestAuthTokenExpires(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lifetime, move time.Duration
		valid          bool
	}{
		"default, before": {auth.DefaultAuthLifetime, time.Hour - time.Second, true},
		"default, at end": {auth.DefaultAuthLifetime, time.Hour, false},
		"short, before":   {time.Minute, 59 * time.Second, true},
		"short, after":    {time.Minute, 2 * time.Minute, false},
		"longer than key": {48 * time.Hour, 23 * time.Hour, true},
		"key has expired": {48 * time.Hour, 24 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			ring, _ := openKeyring(t, seeds([3]string{"s1", "a", "2026-11-21T12:00:00Z"}), auth.WithClock(c.Now))
			issuer := auth.NewIssuer(networkID, ring, auth.WithIssuerClock(c.Now), auth.WithAuthLifetime(tc.lifetime))
			token, err := issuer.MintAuthToken("alice")
			require.NoError(t, err)
			c.Move(tc.move)
			require.Equal(t, tc.valid, issuer.CheckAuthToken("alice", token) == nil)
		})
	}
}

// TestAuthTokensExpireInTheirFormat checks that no token is minted whose expiry does not fit into its four bytes.
func TestAuthTokensExpireInTheirFormat(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		expires int64
		valid   bool
	}{
		"before the first": {-1, false},
		"first":            {0, true},
		"last":             {math.MaxUint32, true},
		"after the last":   {math.MaxUint32 + 1, false},
	} {
		c := &clock{now: time.Unix(tc.expires, 0).Add(-auth.DefaultAuthLifetime)}
		token, err := newIssuer(t, c).MintAuthToken("alice")
		if !tc.valid {
			require.ErrorIs(t, err, auth.ErrTokenClaims, name)
			continue
		}
		require.NoError(t, err, name)
		c.Move(auth.DefaultAuthLifetime - time.Second)
		require.NoError(t, newIssuer(t, c).CheckAuthToken("alice", token), name)
	}
}

// TestAuthTokenExpiresWithItsKey has the key live longer after the token was minted.
func TestAuthTokenExpiresWithItsKey(t *testing.T) {
	t.Parallel()
	c := newClock()
	ring, path := openKeyring(t, seeds([3]string{"s1", "a", "2026-11-21T12:00:00Z"}), auth.WithClock(c.Now))
	issuer := auth.NewIssuer(networkID, ring, auth.WithIssuerClock(c.Now), auth.WithAuthLifetime(48*time.Hour))
	token, err := issuer.MintAuthToken("alice")
	require.NoError(t, err)
	writeFile(t, path, seeds([3]string{"s1", "a", ""}))
	c.Move(24 * time.Hour)
	requireCause(t, issuer.CheckAuthToken("alice", token), fail.Unauthorized(), auth.ErrTokenExpired)
}

func TestAuthTokensOfSeveralKeys(t *testing.T) {
	t.Parallel()
	c := newClock()
	ring, path := openKeyring(t, seeds([3]string{"s1", "a", ""}), auth.WithClock(c.Now))
	issuer := auth.NewIssuer(networkID, ring, auth.WithIssuerClock(c.Now))
	old, err := issuer.MintAuthToken("alice")
	require.NoError(t, err)
	writeFile(t, path, seeds([3]string{"s2", "b", ""}, [3]string{"s1", "a", ""}))
	c.Move(time.Second)
	fresh, err := issuer.MintAuthToken("alice")
	require.NoError(t, err)
	require.NotEqual(t, old[:9], fresh[:9], "signed by another key")
	require.NoError(t, issuer.CheckAuthToken("alice", old))
	require.NoError(t, issuer.CheckAuthToken("alice", fresh))
}

// genuineAuthToken was minted for alice by newIssuer at start. It is a constant because the fuzzer runs in several
// processes and minting is random.
const genuineAuthToken = "pz1.6LwWPGsARFBsXoXmZbwp9dXP2wu7rFupQUwDfDMXdtFZ8HzqziL_oZsBEyB3gVyF"

func FuzzCheckAuthToken(f *testing.F) {
	issuer := newIssuer(f, newClock())
	require.NoError(f, issuer.CheckAuthToken("alice", genuineAuthToken))
	f.Add("alice", genuineAuthToken)
	f.Add("bob", genuineAuthToken)
	f.Add("", "pz1.")
	f.Add("alice", "pz1."+strings.Repeat("A", 64))
	f.Fuzz(func(t *testing.T, user, token string) {
		if issuer.CheckAuthToken(user, token) == nil {
			require.Equal(t, "alice", user)
			require.Equal(t, genuineAuthToken, token)
		}
	})
}

func ringOf(t testing.TB, c *clock, kid, letter string) *auth.Keyring {
	t.Helper()
	ring, _ := openKeyring(t, seeds([3]string{kid, letter, ""}), auth.WithClock(c.Now))
	return ring
}
