package db

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// cancelGrace is how long a statement in progress may run on after its caller has gone away. Without it pgx would close the
// connection, and clients that cancel their requests would make the database start a process for each.
const cancelGrace = 500 * time.Millisecond

// cancellation closes a connection whose statement outlives its context: at once after a timeout, because the home may not respond,
// and cancelGrace later if the caller has gone away.
type cancellation struct {
	*pgconn.DeadlineContextWatcherHandler
}

func newCancellation(conn *pgconn.PgConn) ctxwatch.Handler {
	return cancellation{&pgconn.DeadlineContextWatcherHandler{Conn: conn.Conn()}}
}

// HandleCancel implements ctxwatch.Handler.
func (c cancellation) HandleCancel(ctx context.Context) {
	c.DeadlineDelay = 0
	if errors.Is(ctx.Err(), context.Canceled) {
		c.DeadlineDelay = cancelGrace
	}
	c.DeadlineContextWatcherHandler.HandleCancel(ctx)
}
