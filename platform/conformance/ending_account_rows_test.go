package conformance

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
)

// tokenLeeway is how long past its end an access token is accepted, because the clocks of servers may differ.
const tokenLeeway = 10 * time.Second

func tokenEndings() []ending {
	return []ending{
		{name: "access token", of: []string{"sessions.expires_at", "access-token-ttl"}, begin: accessTokenEnding},
		{name: "stream of a session", of: []string{"sessions.expires_at"}, begin: streamEnding},
		{name: "token of the authentication endpoint", of: []string{"auth-token-ttl"}, begin: authTokenEnding},
		{name: "signature of a guest", of: []string{"authSignatureExpiresAt"}, begin: guestEnding},
		{name: "archive of an export", of: []string{"user_exports.due_at"}, begin: archiveEnding},
	}
}

// signedIn returns a new user, and when the access token ends.
func (w *timeline) signedIn(t *testing.T) (c *apptest.Client, expires time.Time) {
	t.Helper()
	id := apptest.UserID("user")
	r := device(w.n, region.EU).Do(t, http.MethodPost, "/api/v5/sessions", session(id)).OK(t)
	c = w.n.Bearer(region.EU, r.String(t, "accessToken"))
	c.UserID, c.InternalID = id, r.String(t, "users.0._id")
	return c, parsed(t, r, "expiresAt")
}

func accessTokenEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	began := w.clock.Stop()
	c, expires := w.signedIn(t)
	require.WithinDuration(t, began.Add(config.Default().AccessTokenTTL.Std()), expires, time.Second)
	return moment{
		at:     expires.Add(tokenLeeway),
		before: func(t *testing.T) { t.Helper(); c.Do(t, http.MethodGet, "/api/v3/users/"+c.UserID, nil).OK(t) },
		after: func(t *testing.T) {
			t.Helper()
			requireFailure(t, unauthorized, c.Do(t, http.MethodGet, "/api/v3/users/"+c.UserID, nil))
			requireFailure(t, unauthorized, c.Do(t, http.MethodGet, addedStream, nil))
		},
	}
}

// streamEnding opens a stream in the last millisecond of its token: the server ends it.
func streamEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	c, expires := w.signedIn(t)
	var s *apptest.Stream
	return moment{
		at:     expires,
		before: func(t *testing.T) { t.Helper(); s = c.Listen(t, addedStream, "") },
		after:  func(t *testing.T) { t.Helper(); endsWith(t, s, "tokenExpired") },
	}
}

func authTokenEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	began, id := w.clock.Stop(), apptest.UserID("user")
	token := authToken(t, w.n, region.EU, id)
	signIn := func(t *testing.T) *apptest.Response {
		t.Helper()
		return device(w.n, region.EU).Do(t, http.MethodPost, "/api/v5/sessions", session(id, object{"authToken": token}))
	}
	return moment{
		at:     began.Add(config.Default().AuthTokenTTL.Std()).Truncate(time.Second),
		before: func(t *testing.T) { t.Helper(); signIn(t).OK(t) },
		after:  func(t *testing.T) { t.Helper(); requireFailure(t, unauthorized, signIn(t)) },
	}
}

func guestEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	at := w.clock.Now().Add(time.Hour).UTC().Truncate(time.Second)
	until := at.Format(time.RFC3339)
	signature := auth.SignGuest(guestSecret(w.n.ServerKey), "phone", until)
	body := object{"deviceId": "phone", "authSignature": signature, "authSignatureExpiresAt": until}
	signIn := func(t *testing.T) *apptest.Response {
		t.Helper()
		return device(w.n, region.EU).Do(t, http.MethodPost, guestPath("visitor"), body)
	}
	return moment{
		at:     at,
		before: func(t *testing.T) { t.Helper(); signIn(t).OK(t) },
		after:  func(t *testing.T) { t.Helper(); requireFailure(t, unauthorized, signIn(t)) },
	}
}

func archiveEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	c := w.user(t)
	c.Do(t, http.MethodPost, exportPath(c.UserID), nil).OK(t)
	ready := awaitExport(t, c, c.UserID)
	return moment{
		at:     timeAt(t, ready, "expiresAt"),
		before: func(t *testing.T) { t.Helper(); c.Do(t, http.MethodGet, text(ready, "archivePath"), nil).OK(t) },
		after: func(t *testing.T) {
			t.Helper()
			require.Eventually(t, func() bool {
				return c.Do(t, http.MethodGet, text(ready, "archivePath"), nil).Status == http.StatusNotFound &&
					len(objectsOf(t, w.n, c.InternalID)) == 0
			}, apptest.Patience, tick)
		},
	}
}

// keyEndings are the ends of previous keys, which are written before the key that follows them.
func keyEndings() []ending {
	return []ending{
		{name: "previous server key", of: []string{"Keys.Server"}, begin: func(t *testing.T, w *timeline) moment {
			t.Helper()
			at := w.previousKey(t, w.n.Keys.Server, object{"id": "previous", "key": previousKey})
			create := func(t *testing.T) *apptest.Response {
				t.Helper()
				return w.n.Anonymous(region.EU).With("X-Server-Key", previousKey).Do(t, http.MethodPost, tokenPath, object{"userId": "anna"})
			}
			return moment{
				at:     at,
				before: func(t *testing.T) { t.Helper(); create(t).OK(t) },
				after:  func(t *testing.T) { t.Helper(); require.Equal(t, http.StatusUnauthorized, create(t).Status) },
			}
		}},
		{name: "previous API key", of: []string{"Keys.API"}, begin: func(t *testing.T, w *timeline) moment {
			t.Helper()
			at := w.previousKey(t, w.n.Keys.API, object{"id": "previous", "key": previousKey})
			signIn := func(t *testing.T) *apptest.Response {
				t.Helper()
				return w.n.Anonymous(region.EU).With("X-API-Key", previousKey).Do(t, http.MethodPost, "/api/v5/sessions", session("anna"))
			}
			return moment{
				at:     at,
				before: func(t *testing.T) { t.Helper(); signIn(t).OK(t) },
				after:  func(t *testing.T) { t.Helper(); requireFailure(t, unauthorized, signIn(t)) },
			}
		}},
		{name: "previous signing key", of: []string{"Keys.Signing"}, begin: signingKeyEnding},
	}
}

const previousKey = "a-key-that-the-next-one-has-replaced"

// signingKeyEnding has a previous key sign an access token, which ends with it although tokens last longer.
func signingKeyEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	seed := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("s", 32)))
	at := w.previousKey(t, w.n.Keys.Signing, object{"kid": "previous", "seed": seed})
	w.clock.StopAt(w.clock.Now().Add(time.Minute)) // by then the server has read the file again
	c, expires := w.signedIn(t)
	require.Equal(t, at, expires)
	return moment{
		at:     at,
		before: func(t *testing.T) { t.Helper(); c.Do(t, http.MethodGet, "/api/v3/users/"+c.UserID, nil).OK(t) },
		after: func(t *testing.T) {
			t.Helper()
			requireFailure(t, unauthorized, c.Do(t, http.MethodGet, "/api/v3/users/"+c.UserID, nil))
			next := w.user(t)
			next.Do(t, http.MethodGet, "/api/v3/users/"+next.UserID, nil).OK(t)
		},
	}
}

// previousKey writes a key that ends in an hour before the keys of a file, and returns its end.
func (w *timeline) previousKey(t *testing.T, file string, key object) time.Time {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	var keys struct {
		Keys []object `json:"keys"`
	}
	require.NoError(t, json.Unmarshal(content, &keys))
	at := w.clock.Now().Add(time.Hour).UTC().Truncate(time.Second)
	keys.Keys = append([]object{with(key, object{"notAfter": at.Format(time.RFC3339)})}, keys.Keys...)
	content, err = json.Marshal(keys)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, content, 0o600))
	return at
}

func fileEndings() []ending {
	return []ending{
		{name: "address of a file of the network", of: []string{"file-url-ttl"}, begin: fileAddressEnding},
		{name: "address of a file in a private place", of: []string{"file-url-ttl"}, begin: privateAddressEnding},
	}
}

func fileAddressEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	c := w.user(t)
	began := w.clock.Stop()
	address := pathOf(t, upload(t, c, "file", "a", []byte("x"), "accessType", "network"))
	_, token, _ := strings.Cut(address, "?t=")
	seconds, _, _ := strings.Cut(token, ".")
	at, err := strconv.ParseInt(seconds, 10, 64)
	require.NoError(t, err)
	return w.addressEnding(t, began, time.Unix(at, 0), address)
}

func privateAddressEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	u := &fileReaders{author: w.user(t), moderator: w.user(t), member: w.user(t)}
	id := text(upload(t, u.author, "image", "a.png", pngOf(t, 9, 9)), "fileId")
	post := newPost(t, u.author, newPrivate(t, u, nil), pictured(id))
	began := w.clock.Stop()
	address := addressIn(t, u.member, "/api/v3/posts/"+post, id)
	proof, err := base64.RawURLEncoding.DecodeString(path.Base(address))
	require.NoError(t, err)
	return w.addressEnding(t, began, time.Unix(int64(binary.BigEndian.Uint32(proof[1:])), 0), address) // after the version
}

// addressEnding is the end of an address of a file, which everyone can open before.
func (w *timeline) addressEnding(t *testing.T, began, at time.Time, address string) moment {
	t.Helper()
	ttl := config.Default().FileURLTTL.Std()
	require.WithinRange(t, at, began.Add(ttl), began.Add(ttl*9/8))
	return moment{
		at:     at,
		before: func(t *testing.T) { t.Helper(); w.n.Anonymous(region.EU).Do(t, http.MethodGet, address, nil).OK(t) },
		after: func(t *testing.T) {
			t.Helper()
			requireFailure(t, forbidden, w.n.Anonymous(region.EU).Do(t, http.MethodGet, address, nil))
		},
	}
}
