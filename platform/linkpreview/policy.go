package linkpreview

import (
	"fmt"
	"net/netip"
	"slices"
	"syscall"
)

// Control returns the Control function of a dialer that connects only to public addresses, at the ports 80 and 443, and to those of
// the allowed networks. Others fail with ErrAddress.
func Control(allowed []netip.Prefix) func(network, address string, c syscall.RawConn) error {
	return networks(allowed).control
}

// networks are networks whose addresses may be fetched although they are not public.
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

// check returns an error unless a page may be fetched from an address.
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
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}
