package ratelimit

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Proxies are the trusted proxies in front of a server: their number, or their addresses. Only they may say, in
// X-Forwarded-For, who the client is. The zero value trusts none.
type Proxies struct {
	count    int
	networks []netip.Prefix
}

// maxProxies bounds the number of proxies or networks.
const maxProxies = 32

// ParseProxies parses a number of proxies, like 1, or their addresses, like 10.0.0.0/8,192.0.2.7.
func ParseProxies(text string) (Proxies, error) {
	var p Proxies
	if text == "" {
		return p, nil
	}
	if count, err := strconv.Atoi(text); err == nil {
		if count < 0 || count > maxProxies {
			return p, fmt.Errorf("%q: the number of proxies must be from 0 to %d", text, maxProxies)
		}
		return Proxies{count: count}, nil
	}
	parts := strings.Split(text, ",")
	if len(parts) > maxProxies {
		return p, fmt.Errorf("%d networks: at most %d are allowed", len(parts), maxProxies)
	}
	for _, part := range parts {
		network, err := parseNetwork(strings.TrimSpace(part))
		if err != nil {
			return Proxies{}, fmt.Errorf("%q is neither a number of proxies nor a network like 10.0.0.0/8", part)
		}
		p.networks = append(p.networks, network)
	}
	return p, nil
}

func parseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return address.Unmap().Prefix(address.Unmap().BitLen())
	}
	return netip.ParsePrefix(text)
}

// String returns the text form.
func (p Proxies) String() string {
	if p.count > 0 {
		return strconv.Itoa(p.count)
	}
	texts := make([]string, len(p.networks))
	for i, network := range p.networks {
		texts[i] = network.String()
	}
	return strings.Join(texts, ",")
}

// UnmarshalText parses proxies.
func (p *Proxies) UnmarshalText(text []byte) error {
	parsed, err := ParseProxies(string(text))
	if err == nil {
		*p = parsed
	}
	return err
}

// MarshalText returns the text form.
func (p Proxies) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// IsZero reports whether no proxy is trusted.
func (p Proxies) IsZero() bool { return p.count == 0 && len(p.networks) == 0 }

// MayBe reports whether the peer of a connection may be one of the proxies. If only their number is known, every peer may.
func (p Proxies) MayBe(peer string) bool {
	address, err := netip.ParseAddrPort(peer)
	return p.count > 0 || err == nil && p.trusts(address.Addr().Unmap())
}

// maxHops bounds how many addresses of X-Forwarded-For are read, from the last one on.
const maxHops = 64

// ClientAddress returns the address of the client, given the address of the connection's peer and the values of
// X-Forwarded-For. Of an IPv6 address only the network of 64 bits counts, because a client can use all its addresses.
func (p Proxies) ClientAddress(peer string, forwarded []string) string {
	peerAddr, err := netip.ParseAddrPort(peer)
	if err != nil {
		return peer
	}
	client := peerAddr.Addr().Unmap()
	if !p.IsZero() {
		client = p.behind(client, hopsOf(forwarded))
	}
	if client.Is6() {
		network, err := client.WithZone("").Prefix(64)
		if err == nil {
			return network.Masked().String()
		}
	}
	return client.String()
}

// behind returns the last address that no trusted proxy has, or the address before the given number of proxies.
func (p Proxies) behind(peer netip.Addr, hops []string) netip.Addr {
	client := peer
	for i, hop := range slices.Backward(hops) {
		distance := len(hops) - i // 1 for the address that the nearest proxy added
		if len(p.networks) == 0 && distance > p.count || len(p.networks) > 0 && !p.trusts(client) {
			break
		}
		address, err := parseHop(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		client = address.Unmap()
	}
	return client
}

// parseHop parses an address, to which some proxies add the port.
func parseHop(hop string) (netip.Addr, error) {
	if address, err := netip.ParseAddr(hop); err == nil {
		return address, nil
	}
	address, err := netip.ParseAddrPort(hop)
	return address.Addr(), err
}

func (p Proxies) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(p.networks, func(network netip.Prefix) bool { return network.Contains(address) })
}

func hopsOf(forwarded []string) []string {
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	return hops[max(len(hops)-maxHops, 0):]
}
