package conformance

import (
	"net/http"
	"testing"

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

// TestDeviceIDEndsNoForeignSession checks that a sign-in with the deviceId of another user's session leaves it alone:
// anyone can send any deviceId.
func TestDeviceIDEndsNoForeignSession(t *testing.T) {
	t.Parallel()
	for _, home := range region.All() {
		t.Run(home.String(), func(t *testing.T) {
			t.Parallel()
			shared := apptest.UserID("device")
			victim := signInOn(t, region.EU, apptest.UserID("victim"), shared)
			for _, code := range region.All() {
				signInOn(t, code, apptest.UserID("attacker"), shared).Do(t, http.MethodGet, verifyPath, nil).OK(t)
			}
			for range 20 { // earlier versions ended it in the background
				victim.At(home).Do(t, http.MethodGet, verifyPath, nil).OK(t)
			}
		})
	}
}

// TestNetworkRolesNeedAnAuthToken checks that the API key alone never gives access to a user with a network role, built
// in or custom: neither in a new session nor in one that was created before the role was assigned.
func TestNetworkRolesNeedAnAuthToken(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	custom := apptest.UserID("greeter")
	n.Admin(region.EU).Do(t, http.MethodPost, "/api/v3/roles", object{"roleId": custom, "permissions": []string{"EDIT_USER"}}).OK(t)
	for _, role := range []string{"global-admin", custom} {
		for _, home := range region.All() {
			id := apptest.UserID("holder")
			early := device(n, home).Do(t, http.MethodPost, "/api/v5/sessions", session(id)).OK(t)
			owner := n.SignIn(t, home, id)
			n.Admin(region.EU).Do(t, http.MethodPut, "/api/v3/users", object{"userId": id, "roles": []string{role}}).OK(t)
			for _, version := range []string{"v3", "v4", "v5"} {
				for _, code := range region.All() {
					r := device(n, code).Do(t, http.MethodPost, "/api/"+version+"/sessions", session(id, object{"displayName": "Stolen"}))
					requireFailure(t, unauthorized, r)
					require.Contains(t, string(r.Body), "authToken: required for users with a network role")
				}
			}
			requireFailure(t, unauthorized, n.Bearer(home, early.String(t, "accessToken")).Do(t, http.MethodGet, verifyPath, nil))
			requireFailure(t, unauthorized, n.Bearer(home, early.String(t, "accessToken")).Do(t, http.MethodPut, "/api/v3/users",
				object{"description": "x"}))
			again := n.SignIn(t, region.SG, id)
			for _, c := range []*apptest.Client{owner, again} {
				require.Equal(t, id, c.Do(t, http.MethodGet, "/api/v3/users/"+id, nil).OK(t).String(t, "users.0.displayName"))
			}
			n.Admin(region.EU).Do(t, http.MethodPut, "/api/v3/users", object{"userId": id, "clear": []string{"roles"}}).OK(t)
			device(n, home).Do(t, http.MethodPost, "/api/v5/sessions", session(id)).OK(t)
		}
	}
}

// TestRoleAndSignInAtOnce signs a user in without an authToken while the user gets a role: no session may have both.
func TestRoleAndSignInAtOnce(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	for range 5 {
		id := newUser(t, region.EU, "rising").UserID
		tokens := make(chan string, 8)
		for i := range 8 {
			go func() {
				r := device(n, region.All()[i%3]).Do(t, http.MethodPost, "/api/v5/sessions", session(id))
				token := ""
				if r.Status == http.StatusOK {
					token = r.String(t, "accessToken")
				}
				tokens <- token
			}()
		}
		admin(t).Do(t, http.MethodPut, "/api/v3/users", object{"userId": id, "roles": []string{"global-admin"}}).OK(t)
		for range 8 {
			if token := <-tokens; token != "" {
				requireFailure(t, unauthorized, n.Bearer(region.US, token).Do(t, http.MethodGet, verifyPath, nil))
			}
		}
	}
}
