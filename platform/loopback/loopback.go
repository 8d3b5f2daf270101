// Package loopback returns clients with addresses of their own on the loopback interface, for programs that act as many hosts.
package loopback

import (
	"net"
	"net/http"
)

// Dialer returns a dialer that connects from the address with the number i, from 0 to 65,535. The same number is the same address.
func Dialer(i int) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, byte(i>>8), byte(i))}} //nolint:gosec // see above
}

// Client returns a client that connects from the address with the number i. It has no time limit, and keeps as many idle connections
// as it has requests at a time.
func Client(i int) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: Dialer(i).DialContext, MaxIdleConnsPerHost: 1000}}
}
