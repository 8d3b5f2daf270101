package conformance

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	tokenPath    = "/api/v4/authentication/token"
	oldTokenPath = "/api/v3/authentication/token"
)

// authToken returns a token with which userID can sign in.
func authToken(t *testing.T, n *apptest.Network, code region.Code, userID string) string {
	t.Helper()
	r := n.Anonymous(code).With("X-Server-Key", n.ServerKey).Do(t, http.MethodPost, tokenPath, object{"userId": userID}).OK(t)
	token, ok := r.JSON(t).(string)
	require.True(t, ok, "the answer is a bare JSON string: %s", r.Body)
	return token
}

func TestCreateToken(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	for _, code := range region.All() {
		token := authToken(t, n, code, "anna")
		require.NotEmpty(t, token)
		require.LessOrEqual(t, len(token), 100, "a session takes tokens of at most 100 characters")
		require.NotEqual(t, token, authToken(t, n, code, "anna"), "no two tokens are equal")
	}
}

// TestCreateTokenByGet uses the older operation, which is deprecated.
func TestCreateTokenByGet(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	for _, code := range region.All() {
		server := n.Anonymous(code).With("X-Server-Key", n.ServerKey)
		r := server.Do(t, http.MethodGet, oldTokenPath+"?userId=who%2Fever", nil).OK(t)
		token, ok := r.JSON(t).(string)
		require.True(t, ok, "the answer is a bare JSON string: %s", r.Body)
		require.NotEmpty(t, r.Header.Get("Deprecation"))
		session := object{"userId": "who/ever", "deviceId": "d", "authToken": token}
		n.Anonymous(code).With("X-API-Key", n.APIKey).Do(t, http.MethodPost, "/api/v5/sessions", session).OK(t)
		requireFailure(t, invalid("userId"), server.Do(t, http.MethodGet, oldTokenPath, nil))
		requireFailure(t, invalid("userId"), server.Do(t, http.MethodGet, oldTokenPath+"?userId="+strings.Repeat("x", 51), nil))
		refused := n.Anonymous(code).With("X-Server-Key", "wrong").Do(t, http.MethodGet, oldTokenPath+"?userId=x", nil)
		require.Equal(t, http.StatusUnauthorized, refused.Status)
		require.JSONEq(t, `"Unauthorized"`, string(refused.Body), "the body is a bare string")
	}
}

func TestCreateTokenIsRefused(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	anonymous := n.Anonymous(region.US)
	for name, c := range map[string]*apptest.Client{
		"no key":         anonymous,
		"empty key":      anonymous.With("X-Server-Key", " "),
		"wrong key":      anonymous.With("X-Server-Key", "wrong"),
		"API key":        anonymous.With("X-Server-Key", n.APIKey),
		"API header":     anonymous.With("X-API-Key", n.ServerKey),
		"half a key":     anonymous.With("X-Server-Key", n.ServerKey[:len(n.ServerKey)/2]),
		"longer key":     anonymous.With("X-Server-Key", n.ServerKey+"x"),
		"admin token":    n.Admin(region.US),
		"as a bearer":    n.Bearer(region.US, n.ServerKey),
		"other capitals": anonymous.With("X-Server-Key", strings.ToUpper(n.ServerKey)+strings.ToLower(n.ServerKey)),
	} {
		t.Run(name, func(t *testing.T) {
			r := c.Do(t, http.MethodPost, tokenPath, object{"userId": "anna"})
			require.Equal(t, http.StatusUnauthorized, r.Status)
			require.JSONEq(t, `"Unauthorized"`, string(r.Body), "the body is a bare string")
		})
	}
}

// TestCreateTokenLimits also checks that the error body of this operation always has data, an object.
func TestCreateTokenLimits(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	server := n.Anonymous(region.US).With("X-Server-Key", n.ServerKey)
	for name, c := range map[string]struct {
		body any
		want failure
	}{
		"shortest":   {object{"userId": "x"}, failure{}},
		"longest":    {object{"userId": strings.Repeat("x", 50)}, failure{}},
		"no user":    {object{}, invalid("userId")},
		"no body":    {nil, invalid("userId")},
		"empty user": {object{"userId": ""}, invalid("userId")},
		"too long":   {object{"userId": strings.Repeat("x", 51)}, invalid("userId")},
		"no string":  {object{"userId": 7}, failure{status: 422, code: 500000}},
		"no JSON":    {`{"userId":`, badRequest},
	} {
		t.Run(name, func(t *testing.T) {
			r := server.Do(t, http.MethodPost, tokenPath, c.body)
			if c.want == (failure{}) {
				r.OK(t)
				return
			}
			if name == "no string" && r.Status == http.StatusBadRequest {
				c.want = badRequest // a value of another type may be refused like bad JSON
			}
			requireFailure(t, c.want, r)
			require.IsType(t, map[string]any{}, r.Get(t, "data"))
		})
	}
}

// TestServerKeysRotate adds a key and retires the old one while the servers run.
func TestServerKeysRotate(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	try := func(code region.Code, key string) int {
		return n.Anonymous(code).With("X-Server-Key", key).Do(t, http.MethodPost, tokenPath, object{"userId": "u"}).Status
	}
	become := func(text string, statuses map[string]int) {
		require.NoError(t, os.WriteFile(n.Keys.Server, []byte(text), 0o600))
		for key, status := range statuses {
			for _, code := range region.All() {
				require.Eventually(t, func() bool { return try(code, key) == status }, apptest.Patience, 20*time.Millisecond, "%s", key)
			}
		}
	}
	second := strings.Repeat("second-key-", 4)
	become(`{"keys":[{"id":"k1","key":"`+n.ServerKey+`"},{"id":"k2","key":"`+second+`"}]}`,
		map[string]int{n.ServerKey: 200, second: 200})
	become(`{"keys":[{"id":"k1","key":"`+n.ServerKey+`","notAfter":"2020-01-01T00:00:00Z"},{"id":"k2","key":"`+second+`"}]}`,
		map[string]int{n.ServerKey: 401, second: 200})
	become(`{"keys":[{"id":"k2","key":"`+second+`"}]}`, map[string]int{n.ServerKey: 401, second: 200})
}

// keyFile reads the entries of a key file.
func keyFile(t *testing.T, path string) []any {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var file struct{ Keys []any }
	require.NoError(t, json.Unmarshal(content, &file))
	return file.Keys
}

func writeKeyFile(t *testing.T, path string, keys ...any) {
	t.Helper()
	content, err := json.Marshal(object{"keys": keys})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, content, 0o600))
}

// TestSigningKeysRotate inserts a new signing key before the old one and then retires the old one, while the servers
// run.
func TestSigningKeysRotate(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	old := keyFile(t, n.Keys.Signing)[0]
	path := filepath.Join(t.TempDir(), "new.json")
	require.NoError(t, auth.GenerateKeyring(path))
	made := keyFile(t, path)[0]
	before := n.SignIn(t, region.EU, "before")
	holds := func(token string, want int) {
		for _, code := range region.All() {
			require.Eventually(t, func() bool {
				return n.Bearer(code, token).Do(t, http.MethodGet, verifyPath, nil).Status == want
			}, apptest.Patience, 20*time.Millisecond)
		}
	}
	writeKeyFile(t, n.Keys.Signing, made, old)
	var after string
	require.Eventually(t, func() bool {
		after = n.SignIn(t, region.EU, "after").Token
		return strings.Split(after, ".")[0] != strings.Split(before.Token, ".")[0]
	}, apptest.Patience, 20*time.Millisecond, "the first key signs")
	holds(before.Token, http.StatusOK)
	holds(after, http.StatusOK)
	writeKeyFile(t, n.Keys.Signing, made)
	holds(before.Token, http.StatusUnauthorized)
	holds(after, http.StatusOK)
}

// TestAPIKeysRotate does the same for the keys that sessions need.
func TestAPIKeysRotate(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	second := strings.Repeat("second-key-", 4)
	old := keyFile(t, n.Keys.API)[0]
	takes := func(key string, want int) {
		for _, code := range region.All() {
			require.Eventually(t, func() bool {
				r := n.Anonymous(code).With("X-API-Key", key).Do(t, http.MethodPost, "/api/v5/sessions", session("u"))
				return r.Status == want
			}, apptest.Patience, 20*time.Millisecond)
		}
	}
	writeKeyFile(t, n.Keys.API, old, object{"id": "k2", "key": second})
	takes(n.APIKey, http.StatusOK)
	takes(second, http.StatusOK)
	writeKeyFile(t, n.Keys.API, object{"id": "k2", "key": second})
	takes(n.APIKey, http.StatusUnauthorized)
	takes(second, http.StatusOK)
}
