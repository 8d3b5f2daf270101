package db

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// dialed is a connection that was dialed by a test.
type dialed struct {
	net.Conn

	closed chan struct{}
}

func (d dialed) Close() error {
	close(d.closed)
	return nil
}

func dialTest(context.Context, string, string) (net.Conn, error) {
	return dialed{closed: make(chan struct{})}, nil
}

// TestConnectionsOpenInTurn opens as many connections as may be opened at once, and one more.
func TestConnectionsOpenInTurn(t *testing.T) {
	c := newConnecting(dialTest, time.Minute)
	conns := make([]net.Conn, maxConnecting)
	for i := range conns {
		conns[i] = openTest(t, c)
	}
	waiting, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.open(waiting, "tcp", "database")
	require.ErrorIs(t, err, context.Canceled)

	require.NoError(t, conns[0].Close())
	next := openTest(t, c)
	require.Len(t, c.turns, maxConnecting)
	next.(*openingConn).end()
	require.NoError(t, next.Close(), "its turn ended when it was open")
	require.Len(t, c.turns, maxConnecting-1)
	require.NoError(t, conns[1].Close())
	require.Empty(t, c.turns)
}

func openTest(t *testing.T, c connecting) net.Conn {
	t.Helper()
	conn, err := c.open(t.Context(), "tcp", "database")
	require.NoError(t, err)
	return conn
}

// TestConnectionThatIsRefused checks that a connection that cannot be dialed ends its turn.
func TestConnectionThatIsRefused(t *testing.T) {
	refused := errors.New("refused")
	c := newConnecting(func(context.Context, string, string) (net.Conn, error) { return nil, refused }, time.Minute)
	var all sync.WaitGroup
	for range 4 * maxConnecting {
		all.Go(func() {
			if _, err := c.open(t.Context(), "tcp", "database"); !errors.Is(err, refused) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	all.Wait()
	require.Empty(t, c.turns)
}

// TestConnectionThatIsLate checks that a connection whose turn comes after half of its time is not opened.
func TestConnectionThatIsLate(t *testing.T) {
	c := newConnecting(dialTest, time.Hour)
	for left, opens := range map[time.Duration]bool{31 * time.Minute: true, 29 * time.Minute: false} {
		ctx, cancel := context.WithTimeout(t.Context(), left)
		conn, err := c.open(ctx, "tcp", "database")
		cancel()
		require.Equal(t, opens, err == nil)
		if opens {
			require.NoError(t, conn.Close())
		} else {
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		require.Empty(t, c.turns)
	}
}
