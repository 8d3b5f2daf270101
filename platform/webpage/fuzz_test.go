package webpage

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzParse checks that only web addresses without a user name are accepted.
func FuzzParse(f *testing.F) {
	for _, link := range []string{
		"", "example.com", "https://example.com/a?b#c", "javascript://x", "http://user@host", "file:///etc/passwd",
		"//[::1]:80",
	} {
		f.Add(link)
	}
	f.Fuzz(func(t *testing.T, link string) {
		u, err := Parse(link)
		if err != nil {
			require.ErrorIs(t, err, ErrURL)
			return
		}
		require.Contains(t, []string{"http", "https"}, u.Scheme)
		require.NotEmpty(t, u.Hostname())
		require.Nil(t, u.User)
	})
}

// FuzzPage checks that every page leads to a preview within its limits, with an image that browsers may load.
func FuzzPage(f *testing.F) {
	f.Add("text/html", "<title>a</title><meta property=og:image content=/a.png>")
	f.Add("text/html; charset=utf-16", "\xff\xfe<\x00")
	f.Add("text/html; charset=unknown", `<meta name="twitter:image" content="javascript:alert(1)">`)
	from, err := url.Parse("https://www.example.com/page")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, contentType, body string) {
		p := parse([]byte(body), contentType, from)
		require.LessOrEqual(t, utf8.RuneCountInString(p.Title), maxTitle)
		require.LessOrEqual(t, utf8.RuneCountInString(p.Description), maxDescription)
		require.LessOrEqual(t, len(p.ImageURL), maxImageURL)
		require.Equal(t, "example.com", p.Domain)
		for _, text := range []string{p.Title, p.Description, p.ImageURL} {
			require.True(t, utf8.ValidString(text), "%q", text)
			require.NotContains(t, text, "\x00")
		}
		require.True(t, p.ImageURL == "" || strings.HasPrefix(p.ImageURL, "http"), p.ImageURL)
	})
}
