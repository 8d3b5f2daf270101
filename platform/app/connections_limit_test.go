package app

import (
	"net"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// manyConnections is a listener at which connections arrive all the time. None of them can be used.
type manyConnections struct{ net.Listener }

func (manyConnections) Accept() (net.Conn, error) { return new(net.TCPConn), nil }

// TestLimitConnections accepts as many connections as allowed. One more waits until another one is closed, as all have requests.
func TestLimitConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const maximum = 2
		l, err := limitConnections(manyConnections{}, connectionLimits{total: maximum, perAddress: maximum}, nil)
		require.NoError(t, err)
		accepted := make(chan net.Conn, maximum+1)
		accept := func() {
			conn, err := l.Accept()
			if err != nil {
				t.Error(err)
			}
			l.observe(conn, http.StateActive)
			accepted <- conn
		}
		for range maximum {
			accept()
		}
		go accept()
		synctest.Wait()
		require.Len(t, accepted, maximum)
		_ = (<-accepted).Close()
		synctest.Wait()
		require.Len(t, accepted, maximum)
		require.Len(t, l.addresses, 1)
		for range maximum {
			_ = (<-accepted).Close()
		}
		require.Empty(t, l.addresses)
		require.Empty(t, l.open)
	})
}
