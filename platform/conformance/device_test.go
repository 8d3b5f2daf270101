package conformance

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// signInOn signs a user in on a device.
func signInOn(t *testing.T, code region.Code, userID, deviceID string) *apptest.Client {
	t.Helper()
	n := apptest.Shared(t)
	r := device(n, code).Do(t, http.MethodPost, "/api/v5/sessions", session(userID, object{"deviceId": deviceID})).OK(t)
	return n.Bearer(code, r.String(t, "accessToken"))
}

// TestDeviceBelongsToOneUser checks that a sign-in on a device revokes the sessions of other users on it, in every
// region, and no other sessions.
func TestDeviceBelongsToOneUser(t *testing.T) {
	t.Parallel()
	holds := func(c *apptest.Client) bool { return c.Do(t, http.MethodGet, verifyPath, nil).Status == http.StatusOK }
	ends := func(c *apptest.Client, who string) {
		t.Helper()
		require.Eventually(t, func() bool { return !holds(c) }, 30*time.Second, 10*time.Millisecond, who)
	}
	for _, home := range region.All() {
		t.Run(home.String(), func(t *testing.T) {
			shared := apptest.UserID("device")
			first := signInOn(t, region.EU, apptest.UserID("first"), shared)
			elsewhere := apptest.UserID("second")
			second := signInOn(t, home, elsewhere, shared)
			ends(first, "the first")
			again := signInOn(t, region.SG, elsewhere, shared)
			other := signInOn(t, home, elsewhere, apptest.UserID("another"))
			third := signInOn(t, region.US, apptest.UserID("third"), shared)
			ends(second, "the second")
			ends(again, "the second's other session on the device")
			require.True(t, holds(other), "the second has another device")
			require.True(t, holds(third))
		})
	}
}

// TestRefusedSignInKeepsSessions checks that a refused sign-in does not revoke the sessions of the device.
func TestRefusedSignInKeepsSessions(t *testing.T) {
	t.Parallel()
	shared := apptest.UserID("device")
	banned := newUser(t, region.EU, "banned")
	admin(t).Do(t, http.MethodPost, "/api/v2/users/ban", object{"userId": banned.UserID}).OK(t)
	c := signInOn(t, region.EU, apptest.UserID("user"), shared)
	r := device(apptest.Shared(t), region.EU).Do(t, http.MethodPost, "/api/v5/sessions", session(banned.UserID, object{"deviceId": shared}))
	requireRefused(t, r, http.StatusForbidden, 400312)
	c.Do(t, http.MethodGet, verifyPath, nil).OK(t)
}
