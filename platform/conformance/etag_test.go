package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

// TestETag checks that a read is answered without a body while its answer is the same, by every server.
func TestETag(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	path := "/api/v3/users/" + alice.UserID
	first := alice.Do(t, http.MethodGet, path, nil).OK(t)
	tag := first.Header.Get("Etag")
	require.Regexp(t, `^W/"[0-9a-z]{1,13}"$`, tag)
	require.Equal(t, "private, no-cache", first.Header.Get("Cache-Control"))
	for _, code := range region.All() {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			again := alice.At(code).With("If-None-Match", tag).Do(t, method, path, nil)
			require.Equal(t, http.StatusNotModified, again.Status)
			require.Empty(t, again.Body)
			require.Equal(t, tag, again.Header.Get("Etag"))
			require.Empty(t, again.Header.Get("Content-Type"))
		}
	}
	alice.Do(t, http.MethodPut, "/api/v3/users", object{"description": "changed"}).OK(t)
	changed := alice.With("If-None-Match", tag).Do(t, http.MethodGet, path, nil).OK(t)
	require.NotEqual(t, tag, changed.Header.Get("Etag"))
	require.Empty(t, alice.Do(t, http.MethodPut, "/api/v3/users", object{"description": "x"}).OK(t).Header.Get("Etag"), "not a read")
	missing := alice.With("If-None-Match", "*").Do(t, http.MethodGet, path+"-none", nil)
	require.Equal(t, http.StatusNotFound, missing.Status)
	require.Empty(t, missing.Header.Get("Etag"))
}
