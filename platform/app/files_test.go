package app

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/config"
)

// listenerAt is a listener at an address.
type listenerAt struct {
	net.Listener
	address string
}

func (l listenerAt) Addr() net.Addr {
	ip, port, _ := net.SplitHostPort(l.address)
	number, _ := net.LookupPort("tcp", port)
	return &net.TCPAddr{IP: net.ParseIP(ip), Port: number}
}

// TestPublicURL checks the address that clients are told.
func TestPublicURL(t *testing.T) {
	t.Parallel()
	tls := config.Config{TLSCertFile: "tls.crt", TLSKeyFile: "tls.key"}
	for want, tc := range map[string]struct {
		address string
		cfg     config.Config
	}{
		"http://192.0.2.1:8080":  {"192.0.2.1:8080", config.Config{}},
		"http://localhost:8080":  {"0.0.0.0:8080", config.Config{}},
		"https://localhost:8443": {"[::]:8443", tls},
		"https://192.0.2.1:8443": {"192.0.2.1:8443", tls},
		"https://eu.example.com": {"0.0.0.0:8080", config.Config{PublicURL: "https://eu.example.com"}},
	} {
		r := &Region{cfg: tc.cfg, api: listener{Listener: listenerAt{address: tc.address}}}
		require.Equal(t, want, r.publicURL())
	}
}
