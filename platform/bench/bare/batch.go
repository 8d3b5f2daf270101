package bare

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// batch is a list of the platform's statements that are sent in one round trip.
type batch struct {
	pgx.Batch

	server *Server
}

func (s *Server) newBatch() *batch { return &batch{server: s} }

// add adds a statement of package store. args do not include the home, the first argument of all statements.
func (b *batch) add(name string, args ...any) *pgx.QueuedQuery {
	sql, ok := b.server.sql[name]
	if !ok {
		panic("package store has no statement " + name)
	}
	return b.Queue(sql, append([]any{string(b.server.home)}, args...)...)
}

// send runs the statements and the functions that scan their rows.
func (b *batch) send(ctx context.Context) error {
	conn, err := b.server.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	b.server.roundTrips.Inc()
	err = conn.SendBatch(ctx, &b.Batch).Close()
	if err != nil && conn.Conn().PgConn().TxStatus() != 'I' {
		_, _ = conn.Exec(ctx, "ROLLBACK")
	}
	return err
}

// maxTries is the maximum number of attempts to run a transaction.
const maxTries = 40

// write runs the statements that add adds in one SERIALIZABLE transaction, which takes one round trip, and retries it
// after conflicts.
func (s *Server) write(ctx context.Context, add func(*batch)) error {
	for try := 0; ; try++ {
		b := s.newBatch()
		b.Queue("BEGIN ISOLATION LEVEL SERIALIZABLE")
		add(b)
		b.Queue("COMMIT")
		err := b.send(ctx)
		if !isConflict(err) || try == maxTries {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Millisecond << min(try, 6)):
		}
	}
}

func isConflict(err error) bool {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (failed.Code == "40001" || failed.Code == "40P01")
}
