package conformance

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
)

const linkPreviewPath = "/api/v1/link-preview?url="

// TestLinkPreview reads a page of an allowed network as clients do, with and without encoding the address.
func TestLinkPreview(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<title>Rock</title><meta property="og:image" content="/a.png">`))
	}))
	t.Cleanup(site.Close)
	n := apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) {
		cfg.LinkPreviewNetworks = config.Networks{netip.MustParsePrefix("127.0.0.0/8")}
	}))
	c := n.SignIn(t, region.EU, "reader")
	for _, address := range []string{url.QueryEscape(site.URL + "/page"), site.URL + "/page"} {
		r := c.Do(t, http.MethodGet, linkPreviewPath+address, nil).OK(t)
		require.Equal(t, map[string]any{"title": "Rock", "domain": "127.0.0.1", "imageUrl": site.URL + "/a.png"}, r.JSON(t))
	}
}

// TestLinkPreviewRefusals checks that no page of the server's own network is shown, and which addresses are refused.
func TestLinkPreviewRefusals(t *testing.T) {
	t.Parallel()
	var asked atomic.Bool
	site := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	t.Cleanup(site.Close)
	c := newUser(t, region.EU, "reader")
	r := c.Do(t, http.MethodGet, linkPreviewPath+url.QueryEscape(site.URL), nil).OK(t)
	require.Equal(t, map[string]any{"domain": "127.0.0.1"}, r.JSON(t))
	require.False(t, asked.Load())
	for _, address := range []string{"", "ftp://example.com", "https://user:password@example.com", "javascript:alert(1)"} {
		requireFailure(t, invalid("url: "), c.Do(t, http.MethodGet, linkPreviewPath+url.QueryEscape(address), nil))
	}
}
