package linkpreview

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPolicy(t *testing.T) {
	t.Parallel()
	intranet := networks{netip.MustParsePrefix("10.1.0.0/16")}
	for address, allowed := range map[string]bool{
		"8.8.8.8:443": true, "93.184.215.14:80": true, "[2606:4700::1111]:443": true, "[::ffff:8.8.8.8]:443": true, "10.1.2.3:8080": true,
		"[::ffff:10.1.2.3]:80": true,
		"8.8.8.8:22":           false, "8.8.8.8:8080": false,
		"10.0.0.1:80": false, "172.16.0.1:80": false, "192.168.1.1:80": false, "127.0.0.1:80": false, "169.254.169.254:80": false, "0.0.0.0:80": false,
		"100.64.0.1:80": false, "192.0.0.1:80": false, "192.0.2.1:80": false, "198.18.0.1:80": false, "198.51.100.1:80": false, "203.0.113.1:80": false,
		"224.0.0.1:80": false, "240.0.0.1:80": false, "255.255.255.255:80": false,
		"[::1]:80": false, "[::]:80": false, "[fe80::1%eth0]:80": false, "[fc00::1]:80": false, "[fd12::1]:80": false, "[fec0::1]:80": false, "[ff02::1]:80": false,
		"[::ffff:127.0.0.1]:80": false, "[::ffff:10.0.0.1]:80": false, "[::ffff:169.254.169.254]:80": false, "[::127.0.0.1]:80": false,
		"[64:ff9b::a00:1]:80": false, "[64:ff9b:1::1]:80": false, "[2002:7f00:1::1]:80": false, "[2001::1]:80": false, "[2001:db8::1]:80": false, "[100::1]:80": false,
		"[3fff::1]:80": false,
		"example:80":   false, "": false,
	} {
		err := intranet.control("tcp", address, nil)
		if allowed {
			require.NoError(t, err, address)
		} else {
			require.ErrorIs(t, err, ErrAddress, address)
		}
	}
}

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
		"https://e.com/" + strings.Repeat("a", 2000): "",
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
