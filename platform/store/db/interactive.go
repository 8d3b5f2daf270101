package db

import (
	"context"
	"errors"
	"time"

	"github.com/cockroachdb/cockroach-go/v2/crdb"
	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// InteractiveTx is a serializable transaction in one home whose later statements depend on the results of earlier ones,
// so that it needs several round trips: each Send is one. A Tx is faster and holds its locks for a shorter time.
type InteractiveTx struct {
	conn   *pgx.Conn
	home   region.Code
	routes *Routes
	since  uint64 // epoch of the routes
	sent   []Queued
}

// Send runs the statements of a transaction, which must not be committed, in one round trip.
func (t *InteractiveTx) Send(ctx context.Context, queued *Tx) error {
	var batch pgx.Batch
	for i := range queued.steps {
		s := &queued.steps[i]
		if err := t.routes.requireWritable(ctx, s.args[1:], t.since); err != nil {
			return err
		}
		batch.Queue(s.statement.on(t.conn), s.args...)
		t.sent = append(t.sent, s.queued())
	}
	results := t.conn.SendBatch(ctx, &batch)
	for i := range queued.steps {
		if err := queued.steps[i].readResult(results); err != nil {
			_ = results.Close()
			return err
		}
	}
	return results.Close()
}

// RunInteractive runs f in a transaction and commits it unless f returns an error. f may be called several times, so that
// it must not have side effects outside of the database, and must lock the rows of shared tables that it updates with its
// first statements. The time limit of f and all retries is that of a Tx.
func (d *DB) RunInteractive(ctx context.Context, home region.Code, f func(context.Context, *InteractiveTx) error) (err error) {
	h := d.homes[home]
	ctx, traced := startSpan(ctx, "interactive transaction", home, func() []string { return nil })
	defer func() { endSpan(traced, err) }()
	bounded, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	var refusal error // of f, or of the database: the home did respond
	err = h.roundTrip(ctx, func() error {
		conn, release, err := h.acquire(bounded)
		if err != nil {
			return err
		}
		defer release() // the pool discards connections that are in a transaction
		began := d.routes.enter()
		defer func() { d.leaveAfter(bounded, began, err) }()
		t := &InteractiveTx{conn: conn.Conn(), home: home, routes: d.routes, since: began.number}
		err = d.runInteractive(bounded, t, f)
		if !unreachable(err) && bounded.Err() == nil {
			refusal, err = err, nil
		}
		return err
	})
	return errors.Join(refusal, err)
}

func (d *DB) runInteractive(ctx context.Context, t *InteractiveTx, f func(context.Context, *InteractiveTx) error) error {
	attempts := 0
	attempt := func() error {
		if attempts++; attempts > 1 {
			d.metrics.retries.WithLabelValues(string(t.home), stateSerializationFailure).Inc()
		}
		d.metrics.roundTrips.WithLabelValues(string(t.home)).Inc()
		t.sent = t.sent[:0]
		return f(ctx, t)
	}
	var err error
	if d.cockroach(t.conn) {
		err = retrySavepoint(ctx, savepointTx{t.conn, d.limits.CancelGrace}, attempt)
	} else {
		err = d.retryTransaction(ctx, t.conn, attempt)
	}
	if d.sent != nil {
		d.sent(t.sent)
	}
	return err
}

// reportsCockroach reports whether the server is a CockroachDB, which reports its version when a connection is made.
func reportsCockroach(conn *pgx.Conn) bool {
	return conn.PgConn().ParameterStatus("crdb_version") != ""
}

// retrySavepoint retries with CockroachDB's protocol: a retry within the same transaction keeps its locks and its place
// among the waiting transactions.
func retrySavepoint(ctx context.Context, tx savepointTx, attempt func() error) error {
	if err := tx.Exec(ctx, sqlBegin); err != nil {
		return err
	}
	tries := 0
	return crdb.ExecuteInTx(crdb.WithMaxRetries(ctx, maxRetries), tx, func() error {
		if tries++; tries > 1 && !backOff(ctx, tries-2) {
			return ctx.Err()
		}
		if err := tx.Exec(ctx, sqlWaitForLocks); err != nil { // a retry rolls it back
			return err
		}
		return attempt()
	})
}

// savepointTx implements crdb.Tx.
type savepointTx struct {
	*pgx.Conn

	limit time.Duration // of the rollback
}

func (t savepointTx) Exec(ctx context.Context, sql string, args ...any) error {
	_, err := t.Conn.Exec(ctx, sql, args...)
	return err
}

func (t savepointTx) Commit(ctx context.Context) error { return t.Exec(ctx, sqlCommit) }

func (t savepointTx) Rollback(ctx context.Context) error { return rollBack(ctx, t.Conn, t.limit) }

// retryTransaction retries with a new transaction each time. PostgreSQL keeps the snapshot of a transaction when it rolls
// back to a savepoint, so that a retry in it would fail again.
func (d *DB) retryTransaction(ctx context.Context, conn *pgx.Conn, attempt func() error) error {
	for try := 0; ; try++ {
		err := d.tryTransaction(ctx, conn, attempt)
		if !retryable(err) || try >= maxRetries || !backOff(ctx, try) {
			return err
		}
	}
}

func (d *DB) tryTransaction(ctx context.Context, conn *pgx.Conn, attempt func() error) error {
	if _, err := conn.Exec(ctx, sqlBegin); err != nil {
		return err
	}
	if err := attempt(); err != nil {
		_ = rollBack(ctx, conn, d.limits.CancelGrace) // otherwise the pool discards the connection
		return err
	}
	tag, err := conn.Exec(ctx, sqlCommit)
	if err == nil && tag.String() != sqlCommit {
		err = errRolledBack
	}
	return err
}
