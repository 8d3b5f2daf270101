package auth_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
)

func TestAccessTokenRoundTrip(t *testing.T) {
	t.Parallel()
	c := newClock()
	issuer := newIssuer(t, c)
	token, issued, expires, err := issuer.MintAccess(alice())
	require.NoError(t, err)
	require.Equal(t, start, issued, "milliseconds survive")
	require.Equal(t, start.Truncate(time.Second).Add(30*24*time.Hour), expires)

	claims, err := issuer.Verify(token)
	require.NoError(t, err)
	require.Equal(t, auth.Claims{
		UserID: aliceID, PublicID: "alice", SessionID: alice().SessionID,
		IssuedAt: issued, ExpiresAt: expires, KeyID: "s1",
	}, claims)
}

// TestLongToken checks that a genuine token that is longer than any of the program's is refused without being decoded.
func TestLongToken(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	subject := alice()
	subject.PublicID = strings.Repeat("a", 4096)
	token, _, _, err := issuer.MintAccess(subject)
	require.NoError(t, err)
	_, err = issuer.Verify(token)
	requireCause(t, err, fail.Unauthorized(), auth.ErrTokenMalformed)
}

// TestFileAddressesExpireWithTheirKey checks that an address is valid as long as the key that signed it.
func TestFileAddressesExpireWithTheirKey(t *testing.T) {
	t.Parallel()
	ring, _ := openKeyring(t, seeds([3]string{"s1", "a", "2026-11-21T12:00:00Z"}))
	end := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	mac, err := ring.SignFileAddress([]byte("x"), start)
	require.NoError(t, err)
	require.True(t, ring.VerifyFileAddress([]byte("x"), mac, end.Add(-time.Second)))
	require.False(t, ring.VerifyFileAddress([]byte("y"), mac, start), "another address")
	require.False(t, ring.VerifyFileAddress([]byte("x"), mac, end))
}

func TestAccessTokenPayload(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock(), auth.WithAccessLifetime(time.Hour))
	body, err := base64.RawURLEncoding.DecodeString(strings.Split(mint(t, issuer), ".")[1])
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(body, &got))
	second := float64(start.Unix())
	require.Equal(t, map[string]any{
		"iss": "plaza/" + networkID, "sub": aliceID, "sid": alice().SessionID,
		"iat": second, "ims": float64(start.UnixMilli()), "exp": second + 3600,
		"user": map[string]any{"userId": aliceID, "publicUserId": "alice"},
	}, got)
}

func TestAdminTokenRoundTrip(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	token, expires, err := issuer.MintAdmin("ops", time.Hour)
	require.NoError(t, err)
	claims, err := issuer.Verify(token)
	require.NoError(t, err)
	_, _, err = issuer.MintAdmin(strings.Repeat("o", 100), time.Second)
	require.NoError(t, err, "the longest name")
	require.Equal(t, auth.Claims{Admin: true, Name: "ops", IssuedAt: start, ExpiresAt: expires, KeyID: "s1"}, claims)
}

func TestMintRejectsInvalidSubjects(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	for name, spoil := range map[string]func(*auth.AccessSubject){
		"no user":         func(s *auth.AccessSubject) { s.UserID = "" },
		"invalid user id": func(s *auth.AccessSubject) { s.UserID = "alice" },
		"no public id":    func(s *auth.AccessSubject) { s.PublicID = "" },
		"no session":      func(s *auth.AccessSubject) { s.SessionID = "" },
		"unknown region":  func(s *auth.AccessSubject) { s.UserID = "ff" + aliceID[2:] },
	} {
		t.Run(name, func(t *testing.T) {
			subject := alice()
			spoil(&subject)
			_, _, _, err := issuer.MintAccess(subject)
			require.ErrorIs(t, err, auth.ErrTokenClaims)
		})
	}
	for _, tc := range []struct {
		name string
		ttl  time.Duration
	}{{"", time.Hour}, {"ops", 0}, {"ops", -time.Hour}, {strings.Repeat("o", 101), time.Hour}} {
		_, _, err := issuer.MintAdmin(tc.name, tc.ttl)
		require.ErrorIs(t, err, auth.ErrTokenClaims)
	}
}

func TestVerifyChecksTime(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		move  time.Duration
		cause error
	}{
		"immediately":                  {0, nil},
		"last second":                  {time.Hour - time.Second, nil},
		"within the leeway":            {time.Hour + 5*time.Second, nil},
		"past the leeway":              {time.Hour + 11*time.Second, auth.ErrTokenExpired},
		"long past":                    {30 * 24 * time.Hour, auth.ErrTokenExpired},
		"our clock a little behind":    {-5 * time.Second, nil},
		"issued an hour in the future": {-time.Hour, auth.ErrTokenFromFuture},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			issuer := newIssuer(t, c, auth.WithAccessLifetime(time.Hour))
			token := mint(t, issuer)
			c.Move(tc.move)
			_, err := issuer.Verify(token)
			if tc.cause == nil {
				require.NoError(t, err)
				return
			}
			requireCause(t, err, fail.Unauthorized(), tc.cause)
		})
	}
}

// body returns the claims of a valid access token, for tests to modify.
func body() jwt.MapClaims {
	return jwt.MapClaims{
		"iss": "plaza/" + networkID, "sub": aliceID, "sid": "02cccccccccccccccccccccc",
		"iat": start.Unix(), "ims": start.UnixMilli(), "exp": start.Add(time.Hour).Unix(),
		"user": map[string]any{"userId": aliceID, "publicUserId": "alice"},
	}
}

func private(letter string) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(strings.Repeat(letter, 32)))
}

func sign(t testing.TB, method jwt.SigningMethod, key any, header map[string]any, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	maps.Copy(token.Header, header)
	signed, err := token.SignedString(key)
	require.NoError(t, err)
	return signed
}

func TestVerifyRejectsForgeries(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	kid := map[string]any{"kid": "s1"}
	good := sign(t, jwt.SigningMethodEdDSA, private("a"), kid, body())
	parts := strings.Split(good, ".")
	public := []byte(private("a").Public().(ed25519.PublicKey))
	_, err := issuer.Verify(good)
	require.NoError(t, err, "the unmodified claims are valid")

	for name, tc := range map[string]struct {
		token string
		cause error
	}{
		"empty":        {"", auth.ErrTokenMalformed},
		"not a token":  {"hello", auth.ErrTokenMalformed},
		"two parts":    {parts[0] + "." + parts[1], auth.ErrTokenMalformed},
		"four parts":   {good + ".x", auth.ErrTokenMalformed},
		"far too long": {good + strings.Repeat("x", 5000), auth.ErrTokenMalformed},
		"no signature": {parts[0] + "." + parts[1] + ".", auth.ErrTokenUnsigned},
		"other body, same signature": {
			parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"x"}`)) + "." + parts[2],
			auth.ErrTokenUnsigned,
		},
		"algorithm none":           {sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, kid, body()), auth.ErrTokenUnsigned},
		"HMAC with the public key": {sign(t, jwt.SigningMethodHS256, public, kid, body()), auth.ErrTokenUnsigned},
		"no kid":                   {sign(t, jwt.SigningMethodEdDSA, private("a"), nil, body()), auth.ErrTokenUnsigned},
		"kid is a number":          {sign(t, jwt.SigningMethodEdDSA, private("a"), map[string]any{"kid": 1}, body()), auth.ErrTokenUnsigned},
		"unknown kid": {
			sign(t, jwt.SigningMethodEdDSA, private("a"), map[string]any{"kid": "s9"}, body()),
			auth.ErrTokenUnsigned,
		},
		"another key under our kid":    {sign(t, jwt.SigningMethodEdDSA, private("b"), kid, body()), auth.ErrTokenUnsigned},
		"signature with trailing bits": {good[:len(good)-1] + "B", auth.ErrTokenUnsigned},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := issuer.Verify(tc.token)
			require.ErrorIs(t, err, fail.Unauthorized())
			if name != "signature with trailing bits" { // malformed or wrongly signed, depending on the bits
				require.ErrorIs(t, err, tc.cause)
			}
			if len(tc.token) > 20 {
				require.NotContains(t, printed(t, err), tc.token[:20])
			}
		})
	}
}

func TestVerifyRejectsInvalidClaims(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	for name, tc := range map[string]struct {
		spoil func(jwt.MapClaims)
		cause error
	}{
		"another network":    {func(b jwt.MapClaims) { b["iss"] = "plaza/ffffffffffffffffffffffff" }, auth.ErrTokenForeign},
		"no issuer":          {func(b jwt.MapClaims) { delete(b, "iss") }, auth.ErrTokenClaims},
		"no expiry":          {func(b jwt.MapClaims) { delete(b, "exp") }, auth.ErrTokenClaims},
		"no time of issue":   {func(b jwt.MapClaims) { delete(b, "iat") }, auth.ErrTokenClaims},
		"two times of issue": {func(b jwt.MapClaims) { b["ims"] = start.UnixMilli() + 5000 }, auth.ErrTokenClaims},
		"no milliseconds":    {func(b jwt.MapClaims) { delete(b, "ims") }, auth.ErrTokenClaims},
		"not valid yet":      {func(b jwt.MapClaims) { b["nbf"] = start.Add(time.Hour).Unix() }, auth.ErrTokenFromFuture},
		"no subject":         {func(b jwt.MapClaims) { delete(b, "sub") }, auth.ErrTokenClaims},
		"no session":         {func(b jwt.MapClaims) { delete(b, "sid") }, auth.ErrTokenClaims},
		"no user":            {func(b jwt.MapClaims) { delete(b, "user") }, auth.ErrTokenClaims},
		"two users":          {func(b jwt.MapClaims) { b["sub"] = strangerID }, auth.ErrTokenClaims},
		"no public id":       {func(b jwt.MapClaims) { b["user"] = map[string]any{"userId": aliceID} }, auth.ErrTokenClaims},
		"invalid subject": {
			func(b jwt.MapClaims) { b["sub"] = "x"; b["user"] = map[string]any{"userId": "x", "publicUserId": "x"} },
			auth.ErrTokenClaims,
		},
		"user and administrator": {func(b jwt.MapClaims) { b["adm"] = true }, auth.ErrTokenClaims},
		"admin with a session":   {func(b jwt.MapClaims) { b["adm"] = true; delete(b, "user") }, auth.ErrTokenClaims},
		"admin as a string":      {func(b jwt.MapClaims) { b["adm"] = "true" }, auth.ErrTokenMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			claims := body()
			tc.spoil(claims)
			_, err := issuer.Verify(sign(t, jwt.SigningMethodEdDSA, private("a"), map[string]any{"kid": "s1"}, claims))
			requireCause(t, err, fail.Unauthorized(), tc.cause)
		})
	}
}

func FuzzVerify(f *testing.F) {
	issuer := newIssuer(f, newClock())
	good := mint(f, issuer)
	admin, _, err := issuer.MintAdmin("ops", time.Hour)
	require.NoError(f, err)
	kid := map[string]any{"kid": "s1"}
	for _, token := range []string{
		"", ".", "..", "...", good, admin, good + ".", " " + good, good[:len(good)-1], strings.ToUpper(good),
		sign(f, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, kid, body()),
		sign(f, jwt.SigningMethodHS256, []byte("key"), kid, body()),
		sign(f, jwt.SigningMethodEdDSA, private("b"), kid, body()),
		base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"EdDSA","kid":["s1"]}`)) + ".e30.AA",
		"\x00.\xff.é",
	} {
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		claims, err := issuer.Verify(token)
		if err != nil {
			require.ErrorIs(t, err, fail.Unauthorized())
			require.Zero(t, claims)
			return
		}
		require.Contains(t, []string{good, admin}, token, "only the issuer can mint a token")
	})
}
