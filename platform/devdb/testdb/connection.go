package testdb

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
)

// connection is the connection on which this process creates and drops databases. PostgreSQL starts a process for each
// connection, which takes longer than copying a database, so there is one for all tests.
type connection struct {
	url  string
	mu   sync.Mutex
	conn *pgx.Conn // nil before the first use
}

// use calls f with the connection, which it opens first if there is none or the last one was lost.
func (c *connection) use(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil || c.conn.IsClosed() {
		conn, err := pgx.Connect(ctx, c.url)
		if err != nil {
			return err
		}
		c.conn = conn
	}
	return f(ctx, c.conn)
}
