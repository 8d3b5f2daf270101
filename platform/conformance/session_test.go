package conformance

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// device returns a client with only the API key.
func device(n *apptest.Network, code region.Code) *apptest.Client {
	return n.Anonymous(code).With("X-API-Key", n.APIKey, "Set-Access-Token-Cookie", "true")
}

func session(userID string, others ...object) object {
	return with(object{
		"userId": userID, "deviceId": "ascWebSdk#0", "deviceInfo": object{"kind": "web", "model": "m", "sdkVersion": "v7.20.0-cjs"},
	}, others...)
}

func TestCreateSession(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	for _, version := range []string{"v3", "v4", "v5"} {
		for _, code := range region.All() {
			t.Run(version+" "+code.String(), func(t *testing.T) {
				id := apptest.UserID("visitor")
				r := device(n, code).Do(t, http.MethodPost, "/api/"+version+"/sessions", session(id, object{"displayName": "Vic"})).OK(t)
				requireSession(t, r)
				user, ok := r.Get(t, "users.0").(map[string]any)
				require.True(t, ok)
				require.Equal(t, id, user["userId"])
				require.Equal(t, id, user["userPublicId"])
				require.Equal(t, user["_id"], user["userInternalId"])
				require.Equal(t, n.NetworkID+"/user/"+text(user, "_id"), user["path"])
				require.Equal(t, "Vic", user["displayName"])
				home, err := region.HomeOf(text(user, "_id"))
				require.NoError(t, err)
				require.Equal(t, code, home, "a user lives where it was made")
			})
		}
	}
}

// requireSession checks the answer to a sign-in, which is flat.
func requireSession(t *testing.T, r *apptest.Response) {
	t.Helper()
	requireResource(t, "session", resource{
		"accessToken": "s", "issuedAt": "ts", "expiresAt": "ts", "users": "[]", "files": "[]", "roles": "[]", "userType": "s",
		"lastCachePurge": "ts?",
	}, r.JSON(t))
	requireResource(t, "users.0", userFields, r.Get(t, "users.0"))
	require.Equal(t, "signed-in", r.String(t, "userType"))
	issued, err := time.Parse(time.RFC3339, r.String(t, "issuedAt"))
	require.NoError(t, err)
	expires, err := time.Parse(time.RFC3339, r.String(t, "expiresAt"))
	require.NoError(t, err)
	require.InDelta(t, 30*24*time.Hour, expires.Sub(issued), float64(time.Second))
	require.WithinDuration(t, time.Now(), issued, time.Minute)
}

// TestAccessTokenClaims reads the claims that public clients use: the user's public id, and when the token was
// issued and expires.
func TestAccessTokenClaims(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	parts := strings.Split(alice.Token, ".")
	require.Len(t, parts, 3)
	head, err := base64.RawURLEncoding.DecodeString(parts[0])
	require.NoError(t, err)
	var header struct{ Alg, Kid string }
	require.NoError(t, json.Unmarshal(head, &header))
	require.Equal(t, "EdDSA", header.Alg)
	require.NotEmpty(t, header.Kid)
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	var claims struct {
		User     struct{ PublicUserID string }
		Iat, Exp int64
	}
	require.NoError(t, json.Unmarshal(body, &claims))
	require.Equal(t, alice.UserID, claims.User.PublicUserID)
	require.Equal(t, int64(30*24*60*60), claims.Exp-claims.Iat)
}

func TestSessionLimits(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	long := func(length int) string { return strings.Repeat("é", length) }
	var attempts []attempt
	for name, c := range map[string]struct {
		body object
		want failure
	}{
		"userId of 50":          {session(apptest.UserID(strings.Repeat("u", 40))[:50-8] + "12345678"), failure{}},
		"userId of 50 accents":  {session(long(50)), failure{}},
		"userId of 51":          {session(strings.Repeat("u", 51)), invalid("userId")},
		"userId empty":          {session(""), invalid("userId")},
		"userId of an admin":    {session("ADMIN_u"), invalid("userId")},
		"userId of the deleted": {session("DELETED_u"), invalid("userId")},
		"userId with NUL":       {session("u\x00"), invalid("userId")},
		"deviceId of 150":       {session("u", object{"deviceId": long(150)}), failure{}},
		"deviceId of 151":       {session("u", object{"deviceId": long(151)}), invalid("deviceId")},
		"deviceId empty":        {session("u", object{"deviceId": ""}), invalid("deviceId")},
		"displayName of 100":    {session("u", object{"displayName": long(100)}), failure{}},
		"displayName of 101":    {session("u", object{"displayName": long(101)}), invalid("displayName")},
		"profileHandle of 100":  {session("u", object{"profileHandle": long(100)}), failure{}},
		"profileHandle of 101":  {session("u", object{"profileHandle": long(101)}), invalid("profileHandle")},
		"authToken empty":       {session("u", object{"authToken": ""}), invalid("authToken")},
		"authToken of 100":      {session("u", object{"authToken": strings.Repeat("x", 100)}), unauthorized},
		"authToken of 101":      {session("u", object{"authToken": strings.Repeat("x", 101)}), invalid("authToken")},
		"kind ios":              {session("u", object{"deviceInfo": object{"kind": "ios"}}), failure{}},
		"kind android":          {session("u", object{"deviceInfo": object{"kind": "android"}}), failure{}},
		"kind unknown":          {session("u", object{"deviceInfo": object{"kind": "phone"}}), invalid("deviceInfo.kind")},
		"model of 300":          {session("u", object{"deviceInfo": object{"kind": "web", "model": long(300)}}), failure{}},
		"model of 301":          {session("u", object{"deviceInfo": object{"kind": "web", "model": long(301)}}), invalid("deviceInfo.model")},
		"sdkVersion of 30":      {session("u", object{"deviceInfo": object{"sdkVersion": long(30)}}), failure{}},
		"sdkVersion of 31":      {session("u", object{"deviceInfo": object{"sdkVersion": long(31)}}), invalid("deviceInfo.sdkVersion")},
		"no deviceInfo":         {session("u", object{"deviceInfo": nil}), failure{}},
	} {
		attempts = append(attempts, attempt{name, device(n, region.SG), http.MethodPost, "/api/v5/sessions", c.body, c.want})
	}
	requireAttempts(t, attempts)
}

func TestSessionIsRefused(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	id := apptest.UserID("guest")
	requireAttempts(t, []attempt{
		{"no key", n.Anonymous(region.EU), http.MethodPost, "/api/v5/sessions", session(id), unauthorized},
		{"wrong key", n.Anonymous(region.EU).With("X-API-Key", "wrong"), http.MethodPost, "/api/v5/sessions", session(id), unauthorized},
		{"server key", n.Anonymous(region.EU).With("X-API-Key", n.ServerKey), http.MethodPost, "/api/v5/sessions", session(id), unauthorized},
		{"admin token", n.Admin(region.EU), http.MethodPost, "/api/v5/sessions", session(id), unauthorized},
		{"garbage", device(n, region.EU), http.MethodPost, "/api/v5/sessions", session(id, object{"authToken": "garbage"}), unauthorized},
		{
			"another user's authToken", device(n, region.EU), http.MethodPost, "/api/v5/sessions",
			session(id, object{"authToken": authToken(t, n, region.EU, "other")}), unauthorized,
		},
		{
			"the user's authToken, of another region", device(n, region.SG), http.MethodPost, "/api/v5/sessions",
			session(id, object{"authToken": authToken(t, n, region.EU, id)}),
			failure{},
		},
		{
			"another network's authToken", device(n, region.SG), http.MethodPost, "/api/v5/sessions",
			session(id, object{"authToken": authToken(t, apptest.Start(t), region.EU, id)}), unauthorized,
		},
	})
}

// TestSignInAgain signs a user in at another region. The user stays the same, and a given name renames the user only if
// an authToken proves that it is the user who asks.
func TestSignInAgain(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	id := apptest.UserID("wanderer")
	first := device(n, region.US).Do(t, http.MethodPost, "/api/v5/sessions",
		session(id, object{"displayName": "Wanda", "profileHandle": "wanda"})).OK(t)
	second := device(n, region.SG).Do(t, http.MethodPost, "/api/v5/sessions", session(id)).OK(t)
	third := device(n, region.EU).Do(t, http.MethodPost, "/api/v5/sessions",
		session(id, object{"displayName": "Wendy", "authToken": authToken(t, n, region.EU, id)})).OK(t)
	fourth := device(n, region.EU).Do(t, http.MethodPost, "/api/v5/sessions",
		session(id, object{"displayName": "Fake", "profileHandle": "fake"})).OK(t)
	for _, r := range []*apptest.Response{second, third, fourth} {
		require.Equal(t, first.String(t, "users.0._id"), r.String(t, "users.0._id"))
		require.Equal(t, first.String(t, "users.0.createdAt"), r.String(t, "users.0.createdAt"))
		require.Equal(t, "wanda", r.String(t, "users.0.profileHandle"))
	}
	require.Equal(t, "Wanda", second.String(t, "users.0.displayName"))
	require.Equal(t, "Wendy", third.String(t, "users.0.displayName"))
	require.Equal(t, "Wendy", fourth.String(t, "users.0.displayName"))
	unnamed := apptest.UserID("unnamed")
	r := device(n, region.EU).Do(t, http.MethodPost, "/api/v5/sessions", session(unnamed)).OK(t)
	require.Equal(t, unnamed, r.String(t, "users.0.displayName"))
}

const verifyPath = "/api/v3/sessions"

func TestVerifySession(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	alice := newUser(t, region.EU, "alice")
	other := apptest.Start(t)
	stranger := other.NewUser(t, region.EU, "stranger")
	tampered := alice.Token[:len(alice.Token)-4] + "AAAA"
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + strings.Split(alice.Token, ".")[1] + "."
	for _, code := range region.All() {
		r := alice.At(code).Do(t, http.MethodGet, verifyPath, nil).OK(t)
		requireResource(t, "session", resource{"lastCachePurge": "ts?"}, r.JSON(t))
	}
	for name, token := range map[string]string{
		"none": "", "garbage": "garbage", "three parts": "a.b.c", "tampered": tampered, "alg none": none,
		"another network's user": stranger.Token, "another network's admin": other.AdminToken,
		"API key": n.APIKey, "an authToken": authToken(t, n, region.EU, alice.UserID),
		"expired": n.MintAdmin(t, "late", time.Now().Add(-time.Hour), time.Minute),
	} {
		t.Run(name, func(t *testing.T) {
			requireFailure(t, unauthorized, n.Bearer(region.EU, token).Do(t, http.MethodGet, verifyPath, nil))
		})
	}
	t.Run("scheme", func(t *testing.T) {
		alice.With("Authorization", "bearer "+alice.Token).Do(t, http.MethodGet, verifyPath, nil).OK(t)
		for _, header := range []string{"Basic " + alice.Token, alice.Token, "Bearer", "Bearer  "} {
			requireFailure(t, unauthorized, n.Anonymous(region.EU).With("Authorization", header).Do(t, http.MethodGet, verifyPath, nil))
		}
	})
}

func TestRevokeOwnSession(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	id := apptest.UserID("alice")
	phone := n.SignIn(t, region.EU, id)
	laptop := &apptest.Client{}
	*laptop = *phone
	laptop.Token = device(n, region.US).Do(t, http.MethodPost, "/api/v5/sessions", session(id, object{"deviceId": "laptop"})).OK(t).String(t,
		"accessToken")
	r := phone.At(region.SG).Do(t, http.MethodDelete, "/api/v4/sessions", nil).OK(t)
	require.JSONEq(t, `{"success":true}`, string(r.Body))
	for _, code := range region.All() {
		requireFailure(t, unauthorized, phone.At(code).Do(t, http.MethodGet, verifyPath, nil))
		laptop.At(code).Do(t, http.MethodGet, verifyPath, nil).OK(t)
	}
	requireFailure(t, unauthorized, phone.Do(t, http.MethodDelete, "/api/v4/sessions", nil))
}

func TestRevokeAllSessions(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	stranger := newUser(t, region.EU, "stranger")
	for _, c := range []struct {
		name string
		by   func(*apptest.Client) *apptest.Client
		path func(*apptest.Client) string
	}{
		{"own", func(c *apptest.Client) *apptest.Client { return c }, byPath},
		{"admin", func(*apptest.Client) *apptest.Client { return n.Admin(region.US) }, byPath},
		{"admin, by query", func(*apptest.Client) *apptest.Client { return n.Admin(region.US) }, byQuery},
		{"admin, internal id", func(*apptest.Client) *apptest.Client { return n.Admin(region.US) }, byInternalID},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := apptest.UserID("alice")
			phone, laptop := n.SignIn(t, region.SG, id), n.SignIn(t, region.US, id)
			requireFailure(t, notAllowed, stranger.Do(t, http.MethodDelete, c.path(phone), nil))
			laptop.Do(t, http.MethodGet, verifyPath, nil).OK(t)
			r := c.by(phone).Do(t, http.MethodDelete, c.path(phone), nil).OK(t)
			require.JSONEq(t, `{"success":true}`, string(r.Body))
			requireFailure(t, unauthorized, phone.Do(t, http.MethodGet, verifyPath, nil))
			requireFailure(t, unauthorized, laptop.Do(t, http.MethodGet, verifyPath, nil))
			n.SignIn(t, region.EU, id).Do(t, http.MethodGet, verifyPath, nil).OK(t)
		})
	}
	requireAttempts(t, []attempt{
		{"unknown user", n.Admin(region.EU), http.MethodDelete, "/api/v4/sessions/users/unknown-user", nil, notFound},
		{"userId of 51", n.Admin(region.EU), http.MethodDelete, "/api/v4/sessions/users/" + strings.Repeat("x", 51), nil, invalid("userId")},
		{"admin without a user", n.Admin(region.EU), http.MethodDelete, "/api/v4/sessions", nil, invalid("userId")},
		{"anonymous", n.Anonymous(region.EU), http.MethodDelete, "/api/v4/sessions", nil, unauthorized},
	})
}

func byPath(c *apptest.Client) string  { return "/api/v4/sessions/users/" + c.UserID }
func byQuery(c *apptest.Client) string { return "/api/v4/sessions?userId=" + c.UserID }
func byInternalID(c *apptest.Client) string {
	return "/api/v4/sessions/users/" + c.InternalID + "?isPublic=false"
}
