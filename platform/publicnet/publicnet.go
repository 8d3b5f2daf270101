// Package publicnet makes connections to addresses that users or administrators choose, and only to public ones. The server is in a
// network that they must not reach.
package publicnet

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// ErrAddress is the error of connections to addresses that are not public.
var ErrAddress = errors.New("the address is not public")

// Dialer returns a dialer for public addresses at the ports 80 and 443, and for all ports of the networks in allowed, such as those of
// an intranet. resolver may be nil. It must be used without a proxy, because the check would only see the proxy.
func Dialer(allowed []netip.Prefix, resolver *net.Resolver, timeout time.Duration) *net.Dialer {
	return &net.Dialer{Timeout: timeout, Control: networks(allowed).control, Resolver: resolver}
}

// CheckHost returns an error if a host is an IP address to which Dialer would make no connection at a port, "" for the default ones.
func CheckHost(allowed []netip.Prefix, host, port string) error {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return nil //nolint:nilerr // a name, whose addresses are checked when connections are made
	}
	if port == "" {
		port = "443"
	}
	to, err := netip.ParseAddrPort(net.JoinHostPort(ip.String(), port))
	if err != nil {
		return fmt.Errorf("%w: %s", ErrAddress, host)
	}
	return networks(allowed).check(to)
}

// networks are networks whose addresses may be reached although they are not public.
type networks []netip.Prefix

// control is the Control function of the dialer. It runs after the name was resolved and before the connection is made, for
// every address that is tried, so that what a name server answers the next time does not matter.
func (n networks) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrAddress, address)
	}
	return n.check(to)
}

// check returns an error unless a connection may be made to an address.
func (n networks) check(to netip.AddrPort) error {
	ip := to.Addr().Unmap().WithZone("")
	if slices.ContainsFunc(n, func(prefix netip.Prefix) bool { return prefix.Contains(ip) }) {
		return nil
	}
	if !isPublic(ip) || to.Port() != 80 && to.Port() != 443 {
		return fmt.Errorf("%w: %s", ErrAddress, to)
	}
	return nil
}

// isPublic reports whether an address is one of the Internet's.
func isPublic(ip netip.Addr) bool {
	return (ip.Is4() || allocated6.Contains(ip)) && ip.IsGlobalUnicast() && !ip.IsPrivate() &&
		!slices.ContainsFunc(special, func(prefix netip.Prefix) bool { return prefix.Contains(ip) })
}

// allocated6 are the IPv6 addresses that are allocated to the Internet. It excludes those that contain IPv4 addresses in other
// ways than special.
var allocated6 = netip.MustParsePrefix("2000::/3")

// special are the networks of the IANA's registries of special purposes that net/netip does not know as such.
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}
