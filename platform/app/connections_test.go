package app_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/app"
)

// TestMaxConnections opens as many connections as allowed, and one more, which is served when another one is closed.
// TestLimitConnections checks that it waits until then.
func TestMaxConnections(t *testing.T) {
	cfg := testConfig()
	cfg.MaxConnections = 2
	r := run(t, cfg, app.WithHandler(http.HandlerFunc(hello)))
	connect := func() (net.Conn, *bufio.Reader) {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", r.APIAddr())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: plaza\r\n\r\n")
		require.NoError(t, err)
		return conn, bufio.NewReader(conn)
	}
	respond := func(reader *bufio.Reader) error {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
	first, reader := connect()
	require.NoError(t, respond(reader))
	_, reader = connect()
	require.NoError(t, respond(reader))

	_, reader = connect()
	require.NoError(t, first.Close())
	require.NoError(t, respond(reader))
}
