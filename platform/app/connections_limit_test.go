package app

import (
	"net"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// manyConnections is a listener at which connections arrive all the time. None of them can be used.
type manyConnections struct{ net.Listener }

func (manyConnections) Accept() (net.Conn, error) { return new(net.TCPConn), nil }

// TestLimitConnections accepts as many connections as allowed. One more waits until another one is closed.
func TestLimitConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const maximum = 2
		l := limitConnections(manyConnections{}, maximum)
		accepted := make(chan net.Conn, maximum+1)
		for range maximum + 1 {
			go func() {
				conn, err := l.Accept()
				if err != nil {
					t.Error(err)
				}
				accepted <- conn
			}()
		}
		synctest.Wait()
		require.Len(t, accepted, maximum)
		_ = (<-accepted).Close()
		synctest.Wait()
		require.Len(t, accepted, maximum)
	})
}
