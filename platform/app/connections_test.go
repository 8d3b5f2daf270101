package app_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/app"
	"github.com/plaza-social/plaza/platform/config"
)

// client is an HTTP client with one connection.
type client struct {
	net.Conn
	reader *bufio.Reader
}

// connectFrom opens a connection from an address of the loopback interface.
func connectFrom(t *testing.T, r *running, address string) *client {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	conn, err := dialer.DialContext(t.Context(), "tcp", r.APIAddr())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &client{conn, bufio.NewReader(conn)}
}

func (c *client) request(t *testing.T, path string) *client {
	t.Helper()
	_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: plaza\r\n\r\n", path)
	require.NoError(t, err)
	return c
}

// answer reads an answer.
func (c *client) answer() error {
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return errors.Join(err, response.Body.Close())
}

// closed reports whether the server has closed the connection.
func (c *client) closed() bool { return c.answer() != nil }

// blocking is a handler whose path /block answers when it is told to.
type blocking struct{ entered, proceed chan struct{} }

func newBlocking() blocking { return blocking{make(chan struct{}), make(chan struct{})} }

func (b blocking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/block" {
		b.entered <- struct{}{}
		<-b.proceed
	}
	hello(w, r)
}

// runLimited starts a server that accepts a number of connections, in all and from an address.
func runLimited(t *testing.T, handler http.Handler, total, perAddress config.Count) *running {
	t.Helper()
	cfg := testConfig()
	cfg.MaxConnections, cfg.AddressConnections = total, perAddress
	return run(t, cfg, app.WithHandler(handler))
}

// awaitIdle waits until the server knows that a number of connections have no request.
func (r *running) awaitIdle(t *testing.T, connections int) {
	t.Helper()
	require.Eventually(t, func() bool { return r.IdleConnections() == connections }, patience, time.Millisecond)
}

// TestMaxConnections opens as many connections as allowed, and one more: the oldest one that has no request makes way, of the address
// with the most. A connection beyond the maximum, all of which have requests, waits until one of these ends.
func TestMaxConnections(t *testing.T) {
	handler := newBlocking()
	r := runLimited(t, handler, 3, 3)
	first := connectFrom(t, r, "127.0.0.1").request(t, "/")
	require.NoError(t, first.answer())
	r.awaitIdle(t, 1)
	second := connectFrom(t, r, "127.0.0.1").request(t, "/")
	require.NoError(t, second.answer())
	r.awaitIdle(t, 2)
	other := connectFrom(t, r, "127.0.0.2").request(t, "/")
	require.NoError(t, other.answer(), "at the limit")
	r.awaitIdle(t, 3)
	third := connectFrom(t, r, "127.0.0.3").request(t, "/block")
	<-handler.entered
	require.True(t, first.closed(), "the oldest connection of the address with the most")
	second.request(t, "/block")
	<-handler.entered
	other.request(t, "/block")
	<-handler.entered

	waiting := connectFrom(t, r, "127.0.0.4").request(t, "/")
	handler.proceed <- struct{}{}
	require.NoError(t, waiting.answer(), "a connection makes way when its request has ended")
	close(handler.proceed)
	ended := 0
	for _, c := range []*client{second, other, third} {
		require.NoError(t, c.answer())
		if _, err := fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: plaza\r\n\r\n"); err != nil || c.closed() {
			ended++
		}
	}
	require.Equal(t, 1, ended)
}

// TestMaxConnectionsPerAddress opens as many connections from an address as allowed, and one more.
func TestMaxConnectionsPerAddress(t *testing.T) {
	handler := newBlocking()
	r := runLimited(t, handler, 100, 2)
	silent := connectFrom(t, r, "127.0.0.1")
	r.awaitIdle(t, 1)
	busy := connectFrom(t, r, "127.0.0.1").request(t, "/block")
	<-handler.entered
	second := connectFrom(t, r, "127.0.0.1").request(t, "/block")
	<-handler.entered
	require.True(t, silent.closed(), "a connection without a request makes way")

	refused := connectFrom(t, r, "127.0.0.1")
	require.True(t, refused.closed(), "one past the limit, all of which have requests")
	other := connectFrom(t, r, "127.0.0.2").request(t, "/")
	require.NoError(t, other.answer(), "another address has a share of its own")
	close(handler.proceed)
	require.NoError(t, busy.answer())
	require.NoError(t, second.answer())
}

// TestConnectionsOfProxies checks that the addresses of proxies have no maximum.
func TestConnectionsOfProxies(t *testing.T) {
	for _, proxies := range []string{"1", "127.0.0.0/8"} {
		t.Run(proxies, func(t *testing.T) {
			handler := newBlocking()
			cfg := testConfig()
			cfg.AddressConnections = 1
			require.NoError(t, cfg.TrustedProxies.UnmarshalText([]byte(proxies)))
			r := run(t, cfg, app.WithHandler(handler))
			first := connectFrom(t, r, "127.0.0.1").request(t, "/block")
			<-handler.entered
			require.NoError(t, connectFrom(t, r, "127.0.0.1").request(t, "/").answer())
			close(handler.proceed)
			require.NoError(t, first.answer())
		})
	}
}

// TestRefusedConnectionsTakeNoPlace has an address whose connections all have requests open one more while the server has as many
// connections as it accepts: the connections of others stay.
func TestRefusedConnectionsTakeNoPlace(t *testing.T) {
	handler := newBlocking()
	r := runLimited(t, handler, 4, 2)
	for range 2 {
		connectFrom(t, r, "127.0.0.1").request(t, "/block")
		<-handler.entered
	}
	others := []*client{connectFrom(t, r, "127.0.0.2").request(t, "/"), connectFrom(t, r, "127.0.0.3").request(t, "/")}
	for _, other := range others {
		require.NoError(t, other.answer())
	}
	r.awaitIdle(t, 2)
	require.True(t, connectFrom(t, r, "127.0.0.1").closed())
	for _, other := range others {
		require.NoError(t, other.request(t, "/").answer())
	}
	close(handler.proceed)
}
