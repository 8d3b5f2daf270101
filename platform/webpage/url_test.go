package webpage

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]string{
		"https://example.com/a?b=c#d":                "https://example.com/a?b=c",
		"example.com/a":                              "https://example.com/a",
		"example.com?u=http://other.example":         "https://example.com?u=http://other.example",
		"HTTP://Example.com":                         "http://Example.com",
		"ftp://example.com":                          "",
		"file:///etc/passwd":                         "",
		"javascript:alert(1)":                        "",
		"https://user@example.com":                   "",
		"mailto:user@example.com":                    "",
		"https://":                                   "",
		"https://exa mple.com":                       "",
		"https://e.com/" + strings.Repeat("a", 1986): "https://e.com/" + strings.Repeat("a", 1986),
		"https://e.com/" + strings.Repeat("a", 1987): "",
	} {
		u, err := Parse(link)
		if want == "" {
			require.ErrorIs(t, err, ErrURL, link)
			continue
		}
		require.NoError(t, err, link)
		require.Equal(t, want, u.String())
	}
}
