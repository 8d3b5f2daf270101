package bare

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// maxTries is the maximum number of attempts to run a transaction.
const maxTries = 40

// write runs the queries in one SERIALIZABLE transaction, which takes one round trip, and retries it after conflicts.
func (s *Server) write(ctx context.Context, queries ...query) error {
	for try := 0; ; try++ {
		err := s.writeOnce(ctx, queries)
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

func (s *Server) writeOnce(ctx context.Context, queries []query) error {
	var batch pgx.Batch
	batch.Queue("BEGIN ISOLATION LEVEL SERIALIZABLE")
	for _, q := range queries {
		if err := s.queue(&batch, q); err != nil {
			return err
		}
	}
	batch.Queue("COMMIT")
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	s.roundTrips.Inc()
	results := conn.SendBatch(ctx, &batch)
	err = readTransaction(results, queries)
	err = errors.Join(err, results.Close())
	if err != nil && conn.Conn().PgConn().TxStatus() != 'I' {
		_, _ = conn.Exec(ctx, "ROLLBACK")
	}
	return err
}

func readTransaction(results pgx.BatchResults, queries []query) error {
	if _, err := results.Exec(); err != nil {
		return err
	}
	for _, q := range queries {
		if err := readOne(results, q); err != nil {
			return err
		}
	}
	_, err := results.Exec()
	return err
}

func isConflict(err error) bool {
	var failed *pgconn.PgError
	return errors.As(err, &failed) && (failed.Code == "40001" || failed.Code == "40P01")
}
