package db

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// cancellation closes a connection whose statement outlives its context: at once after a timeout, because the home may not respond,
// and grace later if the caller has gone away.
type cancellation struct {
	*pgconn.DeadlineContextWatcherHandler

	grace time.Duration
}

// newCancellation returns the constructor of the cancellations of connections.
func newCancellation(grace time.Duration) func(*pgconn.PgConn) ctxwatch.Handler {
	return func(conn *pgconn.PgConn) ctxwatch.Handler {
		return cancellation{&pgconn.DeadlineContextWatcherHandler{Conn: conn.Conn()}, grace}
	}
}

// HandleCancel implements ctxwatch.Handler.
func (c cancellation) HandleCancel(ctx context.Context) {
	c.DeadlineDelay = 0
	if errors.Is(ctx.Err(), context.Canceled) {
		c.DeadlineDelay = c.grace
	}
	c.DeadlineContextWatcherHandler.HandleCancel(ctx)
}
