package db

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// maxConnecting is the number of connections to a home that are opened at once. The database starts a process for each. A
// server that starts, or whose connections were lost, would otherwise open all of them together, and on a busy machine none
// would be ready within its time limit, so that all would be opened again.
const maxConnecting = 2

// connecting limits the number of connections that are being opened. Those that wait for their turn cost the database
// nothing.
type connecting struct {
	turns chan struct{}
	dial  pgconn.DialFunc
	least time.Duration // the time that a connection must have left when its turn comes
}

// newConnecting returns the limit of connections that are dialed by dial within timeout. Those that have waited for more
// than half of it fail: the database would start a process for them that they are too late for.
func newConnecting(dial pgconn.DialFunc, timeout time.Duration) connecting {
	return connecting{turns: make(chan struct{}, maxConnecting), dial: dial, least: timeout / 2}
}

// open dials when it is the connection's turn, which ends with opened or when the connection is closed.
func (c connecting) open(ctx context.Context, network, address string) (net.Conn, error) {
	select {
	case c.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	end := sync.OnceFunc(func() { <-c.turns })
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < c.least {
		end()
		return nil, context.DeadlineExceeded
	}
	conn, err := c.dial(ctx, network, address)
	if err != nil {
		end()
		return nil, err
	}
	return &openingConn{Conn: conn, end: end}, nil
}

// opened ends the turn of a connection that can be used.
func (c connecting) opened(_ context.Context, conn *pgx.Conn) error {
	if opening, ok := rawConn(conn.PgConn().Conn()).(*openingConn); ok {
		opening.end()
	}
	return nil
}

// rawConn returns the connection below TLS.
func rawConn(conn net.Conn) net.Conn {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		return secure.NetConn()
	}
	return conn
}

// openingConn is a connection whose turn ends at the latest when it is closed.
type openingConn struct {
	net.Conn

	end func()
}

// Close closes the connection.
func (c *openingConn) Close() error {
	c.end()
	return c.Conn.Close()
}
