package conformance

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/region"
)

// guestOperationsFile lists the operations that visitors and bots may call.
//
//go:embed testdata/guest_operations.txt
var guestOperationsFile string

// guestKinds are the kinds of guests, with the code of what they may not do.
var guestKinds = map[string]int{"visitor": 403999, "bot": 403998}

// guestSecret returns the secret with which an app's server signs the devices of guests.
func guestSecret(serverKey string) string {
	digest := sha256.Sum256([]byte(serverKey))
	return hex.EncodeToString(digest[:])
}

func guestPath(kind string) string { return "/api/v5/sessions/" + kind }

// newGuest signs a device in.
func newGuest(t *testing.T, n *apptest.Network, code region.Code, kind, deviceID string) (*apptest.Client, *apptest.Response) {
	t.Helper()
	answer := device(n, code).Do(t, http.MethodPost, guestPath(kind),
		object{"deviceId": deviceID, "deviceInfo": object{"kind": "web"}, "sessionHandler": object{}}).OK(t)
	c := n.Bearer(code, answer.String(t, "accessToken"))
	c.UserID, c.InternalID = answer.String(t, "users.0.userId"), answer.String(t, "users.0._id")
	return c, answer
}

// TestGuestSession signs guests in, lets them read, and signs them out.
func TestGuestSession(t *testing.T) {
	t.Parallel()
	n, boss := apptest.Shared(t), newUser(t, region.US, "boss")
	open, private := newCommunity(t, boss), newCommunity(t, boss, object{"isPublic": false})
	post := newPost(t, boss, open)
	for kind, refused := range guestKinds {
		t.Run(kind, func(t *testing.T) {
			guest, answer := newGuest(t, n, region.EU, kind, "phone")
			require.Equal(t, kind, answer.String(t, "userType"))
			requireResource(t, "users.0", userFields, answer.Get(t, "users.0"))
			expires, err := time.Parse(time.RFC3339, answer.String(t, "expiresAt"))
			require.NoError(t, err)
			require.WithinDuration(t, time.Now().Add(24*time.Hour), expires, time.Minute)
			again, _ := newGuest(t, n, region.EU, kind, "phone")
			require.Equal(t, guest.UserID, again.UserID, "a device keeps its user id")
			other, _ := newGuest(t, n, region.EU, kind, "tablet")
			require.NotEqual(t, guest.UserID, other.UserID)

			for _, code := range region.All() {
				guest := guest.At(code)
				require.Equal(t, post, guest.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t).String(t, "posts.0.postId"))
				require.Contains(t, []int{403, 404}, guest.Do(t, http.MethodGet, "/api/v3/communities/"+private, nil).Status)
				requireFailure(t, failure{status: 403, code: refused},
					guest.Do(t, http.MethodPost, "/api/v3/comments", object{"referenceType": "post", "referenceId": post, "data": object{"text": "x"}}))
				require.Equal(t, http.StatusForbidden, guest.Upload(t, "image", "a.png", pngOf(t, 2, 2)).Status)
				require.Equal(t, http.StatusForbidden, guest.Do(t, http.MethodGet, "/realtime/community.userAdded", nil).Status)
			}
			requireFailure(t, notFound, boss.Do(t, http.MethodGet, "/api/v3/users/"+guest.UserID, nil))
			guest.Do(t, http.MethodDelete, "/api/v4/sessions", nil).OK(t)
			requireFailure(t, unauthorized, guest.At(region.SG).Do(t, http.MethodGet, "/api/v3/posts/"+post, nil))
			again.Do(t, http.MethodGet, "/api/v3/sessions", nil).OK(t)
		})
	}
}

// TestGuestsSeeRestrictedFiles loads an image at the address that a guest was given.
func TestGuestsSeeRestrictedFiles(t *testing.T) {
	t.Parallel()
	n, boss := apptest.Shared(t), newUser(t, region.US, "boss")
	community := newCommunity(t, boss, object{"isPublic": false})
	setPublic := func(public bool) {
		boss.Do(t, http.MethodPut, "/api/v3/communities/"+community, object{"isPublic": public}).OK(t)
	}
	fileID := boss.Upload(t, "image", "a.png", pngOf(t, 3, 2)).OK(t).String(t, "0.fileId")
	post := newPost(t, boss, community, object{"attachments": []object{{"type": "image", "fileId": fileID}}})
	setPublic(true)
	guest, _ := newGuest(t, n, region.SG, "visitor", "phone")
	address := addressIn(t, guest, "/api/v3/posts/"+post, fileID)
	require.Contains(t, address, "/download/")
	n.Anonymous(region.SG).Do(t, http.MethodGet, address, nil).OK(t)
	setPublic(false)
	require.NotEqual(t, http.StatusOK, n.Anonymous(region.SG).Do(t, http.MethodGet, address, nil).Status, "guests do not see the community")
}

// TestGuestsOnlyRead calls every operation as a visitor and as a bot. They get what a user without memberships gets from
// the operations of the list, and nothing from all others.
func TestGuestsOnlyRead(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	allowed := strings.Fields(guestOperationsFile)
	require.True(t, slices.IsSorted(allowed))
	for _, procedure := range allowed {
		require.Contains(t, procedures(), procedure)
	}
	for kind, refused := range guestKinds {
		for _, r := range authorizationRows() {
			t.Run(strings.TrimSpace(kind+" "+r.procedure+" "+r.name), func(t *testing.T) {
				guest, _ := newGuest(t, g.n, region.EU, kind, "phone")
				body := object{}
				if r.request != nil {
					body = r.request(t, g)
				}
				want := refused
				if slices.Contains(allowed, r.procedure) || r.want[stranger] == 400100 { // keys
					want = r.want[stranger]
				}
				require.Equal(t, want, g.call(t, guest, r, body))
			})
		}
	}
}

// TestGuestsInSecureMode requires signatures.
func TestGuestsInSecureMode(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	secret, until := guestSecret(n.ServerKey), time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	signed := object{"deviceId": "phone", "authSignature": auth.SignGuest(secret, "phone", until), "authSignatureExpiresAt": until}
	attempts := func(withoutSignature failure) []attempt {
		var all []attempt
		for kind := range guestKinds {
			for name, c := range map[string]struct {
				body object
				want failure
			}{
				"signed":          {signed, failure{}},
				"not signed":      {object{"deviceId": "phone"}, withoutSignature},
				"another device":  {with(signed, object{"deviceId": "phone2"}), unauthorized},
				"another expiry":  {with(signed, object{"authSignatureExpiresAt": "2099-01-01T00:00:00Z"}), unauthorized},
				"no expiry":       {with(signed, object{"authSignatureExpiresAt": nil}), invalid("authSignatureExpiresAt")},
				"no hexadecimals": {with(signed, object{"authSignature": strings.Repeat("x", 64)}), invalid("authSignature")},
				"no device":       {with(signed, object{"deviceId": ""}), invalid("deviceId")},
				"device too long": {object{"deviceId": strings.Repeat("d", 151)}, invalid("deviceId")},
			} {
				all = append(all, attempt{kind + " " + name, device(n, region.SG), http.MethodPost, guestPath(kind), c.body, c.want})
			}
		}
		return all
	}
	requireAttempts(t, attempts(failure{}))
	n.Admin(region.SG).Do(t, http.MethodPut, settingsPath, object{"isSecureModeEnabled": true}).OK(t)
	requireAttempts(t, attempts(unauthorized))
}
