package publicnet

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPolicy(t *testing.T) {
	t.Parallel()
	intranet := networks{netip.MustParsePrefix("10.1.0.0/16")}
	for address, allowed := range map[string]bool{
		"8.8.8.8:443": true, "93.184.215.14:80": true, "[2606:4700::1111]:443": true, "[::ffff:8.8.8.8]:443": true, "10.1.2.3:8080": true,
		"[::ffff:10.1.2.3]:80": true,
		"8.8.8.8:22":           false, "8.8.8.8:8080": false,
		"10.0.0.1:80": false, "172.16.0.1:80": false, "192.168.1.1:80": false, "127.0.0.1:80": false, "169.254.169.254:80": false,
		"0.0.0.0:80":    false,
		"100.64.0.1:80": false, "192.0.0.1:80": false, "192.0.2.1:80": false, "198.18.0.1:80": false, "198.51.100.1:80": false,
		"203.0.113.1:80": false,
		"192.88.99.1:80": false,
		"224.0.0.1:80":   false, "240.0.0.1:80": false, "255.255.255.255:80": false,
		"[::1]:80": false, "[::]:80": false, "[fe80::1%eth0]:80": false, "[fc00::1]:80": false, "[fd12::1]:80": false, "[fec0::1]:80": false,
		"[ff02::1]:80":          false,
		"[::ffff:127.0.0.1]:80": false, "[::ffff:10.0.0.1]:80": false, "[::ffff:169.254.169.254]:80": false, "[::127.0.0.1]:80": false,
		"[64:ff9b::a00:1]:80": false, "[64:ff9b:1::1]:80": false, "[2002:7f00:1::1]:80": false, "[2001::1]:80": false,
		"[2001:db8::1]:80": false, "[100::1]:80": false,
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

// TestCheckHost checks the addresses of hosts that are given by number. Those of names are checked later.
func TestCheckHost(t *testing.T) {
	t.Parallel()
	intranet := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}
	for name, tc := range map[string]struct {
		host, port string
		allowed    bool
	}{
		"public":                     {"8.8.8.8", "", true},
		"public, at the usual port":  {"8.8.8.8", "443", true},
		"public, at another port":    {"8.8.8.8", "8080", false},
		"public, IPv6":               {"2606:4700::1111", "", true},
		"private":                    {"10.0.0.1", "", false},
		"private, IPv6":              {"::1", "", false},
		"allowed":                    {"10.1.2.3", "", true},
		"allowed, at any port":       {"10.1.2.3", "8080", true},
		"no port":                    {"8.8.8.8", "x", false},
		"a port beyond the last one": {"10.1.2.3", "65536", false},
		"a name":                     {"localhost", "8080", true},
	} {
		err := CheckHost(intranet, tc.host, tc.port)
		if tc.allowed {
			require.NoError(t, err, name)
		} else {
			require.ErrorIs(t, err, ErrAddress, name)
		}
	}
}

// TestDialer checks that connections are checked, whatever the host is called.
func TestDialer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for _, host := range []string{"127.0.0.1", "localhost"} {
		_, err = Dialer(nil, nil, time.Minute).DialContext(t.Context(), "tcp", net.JoinHostPort(host, port))
		require.ErrorIs(t, err, ErrAddress, host)
		conn, err := Dialer(loopback, nil, time.Minute).DialContext(t.Context(), "tcp4", net.JoinHostPort(host, port))
		require.NoError(t, err, host)
		require.NoError(t, conn.Close())
	}
}
