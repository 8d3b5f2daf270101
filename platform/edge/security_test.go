package edge

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, path string
		tls          bool
		cache, hsts  string
	}{
		"read":          {http.MethodGet, "/api/v3/users", false, "private, no-cache", ""},
		"head":          {http.MethodHead, "/api/v3/users", false, "private, no-cache", ""},
		"write":         {http.MethodPost, "/api/v4/posts", false, "no-store", ""},
		"sign in":       {http.MethodPost, "/api/v5/sessions", false, "no-store", ""},
		"session":       {http.MethodGet, "/api/v3/sessions", false, "no-store", ""},
		"token":         {http.MethodGet, "/api/v3/authentication/token", false, "no-store", ""},
		"token of room": {http.MethodGet, "/api/v1/rooms/x/token", false, "no-store", ""},
		"over TLS":      {http.MethodGet, "/api/v3/users", true, "private, no-cache", "max-age=31536000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{}
			(&edge{tls: c.tls}).setSecurityHeaders(header, httptest.NewRequest(c.method, c.path, nil))
			require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
			require.Equal(t, "no-referrer", header.Get("Referrer-Policy"))
			require.Contains(t, header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
			require.Equal(t, c.cache, header.Get("Cache-Control"))
			require.Equal(t, c.hsts, header.Get("Strict-Transport-Security"))
		})
	}
}
