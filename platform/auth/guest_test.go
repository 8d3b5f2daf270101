package auth_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
)

func TestGuestToken(t *testing.T) {
	t.Parallel()
	c := newClock()
	issuer := newIssuer(t, c)
	subject := alice()
	subject.Guest = auth.Visitor
	token, issued, expires, err := issuer.MintAccess(subject)
	require.NoError(t, err)
	require.Equal(t, issued.Truncate(time.Second).Add(auth.GuestLifetime), expires)
	claims, err := issuer.Verify(token)
	require.NoError(t, err)
	require.Equal(t, auth.Visitor, claims.Guest)
	require.Equal(t, auth.Visitor, auth.CallerOf(claims).Guest)

	_, err = auth.Bearer(issuer, http.Header{"Authorization": {"Bearer " + token}})
	require.Equal(t, fail.CodeVisitorDenied, fail.From(err).Code, "endpoints that are not operations refuse guests")
	c.Move(auth.GuestLifetime + time.Minute)
	_, err = issuer.Verify(token)
	require.ErrorIs(t, err, auth.ErrTokenExpired)

	subject.Guest = "vip"
	token, _, _, err = issuer.MintAccess(subject)
	require.NoError(t, err)
	_, err = issuer.Verify(token)
	require.ErrorIs(t, err, auth.ErrTokenClaims, "a kind that this version does not know")
}

func TestGuestTokensAreNotLongerThanOthers(t *testing.T) {
	t.Parallel()
	subject := alice()
	subject.Guest = auth.Bot
	_, issued, expires, err := newIssuer(t, newClock(), auth.WithAccessLifetime(time.Hour)).MintAccess(subject)
	require.NoError(t, err)
	require.Equal(t, issued.Truncate(time.Second).Add(time.Hour), expires)
}

func TestGuestFacts(t *testing.T) {
	t.Parallel()
	ctx := auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.User, UserID: aliceID, Guest: auth.Bot})
	require.NoError(t, auth.Confirm(ctx, auth.GuestFacts(false)))
	require.ErrorIs(t, auth.Confirm(ctx, auth.GuestFacts(true)), auth.ErrSessionRevoked)
}

func TestGuestSignature(t *testing.T) {
	t.Parallel()
	c := newClock()
	set, _ := openKeySet(t, keys([3]string{"k1", keyOne, start.Add(time.Hour).Format(time.RFC3339)}, [3]string{"k2", keyTwo, ""}),
		auth.WithClock(c.Now), quietly)
	until := start.Add(2 * time.Hour).Format(time.RFC3339)
	one, two := auth.SignGuest(auth.GuestSecret(keyOne), "phone", until), auth.SignGuest(auth.GuestSecret(keyTwo), "phone", until)
	require.NoError(t, set.CheckGuest(one, "phone", until))
	require.NoError(t, set.CheckGuest(two, "phone", until), "every valid key signs")
	for name, err := range map[string]error{
		"another device": set.CheckGuest(one, "phone2", until),
		"another expiry": set.CheckGuest(one, "phone", start.Add(3*time.Hour).Format(time.RFC3339)),
		"no time":        set.CheckGuest(auth.SignGuest(auth.GuestSecret(keyOne), "phone", "tomorrow"), "phone", "tomorrow"),
		"expired": set.CheckGuest(auth.SignGuest(auth.GuestSecret(keyOne), "phone", start.Format(time.RFC3339)), "phone",
			start.Format(time.RFC3339)),
		"the key itself":  set.CheckGuest(auth.SignGuest(keyOne, "phone", until), "phone", until),
		"an unknown key":  set.CheckGuest(auth.SignGuest(auth.GuestSecret(keyOne+"x"), "phone", until), "phone", until),
		"upper case":      set.CheckGuest(strings.ToUpper(one), "phone", until),
		"without content": set.CheckGuest("", "phone", until),
	} {
		require.ErrorIs(t, err, auth.ErrGuestSignature, name)
		require.Equal(t, fail.CodeUnauthorized, fail.From(err).Code, name)
	}
	c.Move(90 * time.Minute)
	require.ErrorIs(t, set.CheckGuest(one, "phone", until), auth.ErrGuestSignature, "the key has expired")
	require.NoError(t, set.CheckGuest(two, "phone", until))
}

// TestGuestSignatureExample is the example of the document for apps' servers, computed with OpenSSL.
func TestGuestSignatureExample(t *testing.T) {
	t.Parallel()
	require.Equal(t, "202069972bbabe2e176e5a18fa59da7b70b416f1d4ee85ac0d5a8f87afd9dce1",
		auth.SignGuest(auth.GuestSecret("0123456789abcdef0123456789abcdef"), "phone-1", "2026-12-01T00:00:00Z"))
}
