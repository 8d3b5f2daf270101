package db

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/span"
)

// Tx is a serializable transaction in one home, unless ReadCommitted was called. Its statements are queued, and Commit sends them in one
// round trip, including BEGIN and COMMIT. Commit may run them several times, so that a Tx must not have side effects outside of the
// database.
type Tx struct {
	db    *DB
	home  region.Code
	steps []Step
	// idempotentBy is the primary key that a retry violates if an earlier attempt was committed.
	idempotentBy  string
	readCommitted bool
	unrecorded    bool
	shardArgs     []shardArg
	since         uint64 // epoch of the routes
}

// Step is one statement of a Tx.
type Step struct {
	statement *Statement
	args      []any
	scan      func(pgx.Rows) error
	guard     error
	conflicts map[string]error
	recovers  bool // see Recover
	traced    bool // whether callers are noted
	callers   []uintptr
}

// NewTx returns an empty transaction in home.
func (d *DB) NewTx(home region.Code) *Tx {
	return &Tx{db: d, home: home, since: d.routes.epochNumber()}
}

// Home returns the home of the transaction.
func (t *Tx) Home() region.Code { return t.home }

// Exec queues a statement whose rows are discarded. The home is its first argument.
func (t *Tx) Exec(st *Statement, args ...any) *Step { return t.Query(st, nil, args...) }

// Query queues a statement. The home is its first argument. scan is called once for each attempt and must not keep
// results of an earlier one.
func (t *Tx) Query(st *Statement, scan func(pgx.Rows) error, args ...any) *Step {
	args = append([]any{string(t.home)}, args...)
	t.steps = append(t.steps, Step{statement: st, scan: scan, args: args, traced: t.db != nil && t.db.sent != nil})
	return &t.steps[len(t.steps)-1]
}

// Guard queues a condition: if it is false, the transaction is rolled back and Commit returns refusal. The statement
// must divide by a count that is zero if the condition is false: a division by zero fails both PostgreSQL and
// CockroachDB in the middle of a pipeline.
func (t *Tx) Guard(st *Statement, refusal error, args ...any) {
	s := t.Query(st, nil, args...)
	s.guard = refusal
	s.noteCallers()
}

// OnConflict makes Commit return err if the statement violates the unique constraint.
func (s *Step) OnConflict(constraint string, err error) {
	if s.conflicts == nil {
		s.conflicts = map[string]error{}
	}
	s.conflicts[constraint] = err
	s.noteCallers()
}

// maxCallers bounds how many callers of a condition are noted.
const maxCallers = 8

// noteCallers notes the functions that make the step a condition of its transaction, for tests.
func (s *Step) noteCallers() {
	if s.traced {
		s.callers = make([]uintptr, maxCallers)
		s.callers = s.callers[:runtime.Callers(3, s.callers)]
	}
}

// Recover queues a query that is only sent if an earlier attempt may have been committed. It reads what that attempt has
// inserted.
func (t *Tx) Recover(st *Statement, scan func(pgx.Rows) error, args ...any) {
	t.Query(st, scan, args...).recovers = true
}

// ReadCommitted lowers the isolation of the transaction, so that it does not conflict with those that read the same parts
// of an index. It must only change rows by their keys, regardless of what other transactions read and write.
func (t *Tx) ReadCommitted() { t.readCommitted = true }

// IdempotentBy names the primary key of the first row that the transaction inserts. If the connection is lost during
// COMMIT, the transaction is retried, and a violation of the key means that the first attempt was committed. Only the
// first call has an effect.
func (t *Tx) IdempotentBy(primaryKey string) { t.idempotentBy = cmp.Or(t.idempotentBy, primaryKey) }

// Queued returns the statements as they are sent, for tests of query plans.
func (t *Tx) Queued() []Queued {
	steps := inLockOrder(t.steps, string(t.home))
	for _, a := range shardArgs(steps) {
		*a.arg = 0
	}
	setTrace(steps, "")
	return queued(steps)
}

func queued(steps []Step) []Queued {
	all := make([]Queued, 0, len(steps))
	for _, s := range steps {
		all = append(all, s.queued())
	}
	return all
}

func (s *Step) queued() Queued {
	return Queued{Statement: s.statement, SQL: s.statement.SQL, Args: s.args, Callers: s.callers}
}

// maxRetries bounds the retries of a transaction, which take about three seconds including the backoff.
const maxRetries = 40

// Commit runs the transaction. If it returns nil, all changes are stored.
func (t *Tx) Commit(ctx context.Context) (err error) {
	h := t.db.homes[t.home]
	ctx, traced := startSpan(ctx, "transaction", t.home, func() []string { return namesOfSteps(t.steps) })
	defer func() { endSpan(traced, err) }()
	bounded, cancel := context.WithTimeout(ctx, t.db.timeout)
	defer cancel()
	countRoundTrip(ctx)
	added := t.addTo(ctx)
	setTrace(t.steps, span.Of(ctx))
	refusal, err := t.send(ctx, bounded, h)
	for _, a := range added {
		a.end(refusal, err)
	}
	t.noteCommit(ctx, refusal, err)
	if err != nil && unreachable(err) {
		t.db.metrics.unavailable.WithLabelValues(string(t.home)).Inc()
	}
	return cmp.Or(refusal, err)
}

// send runs the transaction once other transactions of this server do not update the same rows. It returns a refusal if
// nothing was stored for certain, and otherwise the error of an unreachable home. bounded is ctx with the DB's timeout.
func (t *Tx) send(ctx, bounded context.Context, h *home) (refusal, err error) {
	t.steps = inLockOrder(t.steps, string(t.home))
	if t.db.sent != nil {
		t.db.sent(queued(t.steps))
	}
	leave, refusal := t.waitForRow(bounded, h)
	if refusal != nil {
		return refusal, nil
	}
	defer leave()
	t.shardArgs = shardArgs(t.steps)
	err = h.roundTrip(ctx, func() error {
		err := t.commit(bounded, h)
		if _, refused := errors.AsType[*fail.Error](err); refused { // the home did respond
			refusal, err = err, nil
		}
		return err
	})
	return refusal, err
}

// waitForRow waits until no other transaction of this server updates the row that this one locks first.
func (t *Tx) waitForRow(ctx context.Context, h *home) (leave func(), err error) {
	row, ok := firstRow(t.steps)
	if !ok {
		return func() {}, nil
	}
	began := time.Now()
	leave, err = h.hot.enter(ctx, row)
	if err != nil {
		t.db.metrics.rowRejections.WithLabelValues(string(t.home)).Inc()
	}
	t.db.metrics.rowWait.WithLabelValues(string(t.home)).Observe(time.Since(began).Seconds())
	return leave, err
}

func (t *Tx) commit(ctx context.Context, h *home) error {
	var lost error // of an earlier attempt, which may have been committed
	for try := 0; ; try++ {
		failed, err := t.run(ctx, h, t.stepsOf(lost != nil))
		switch {
		case err == nil:
			return nil
		case lost != nil && violatedConstraint(err) == t.idempotentBy:
			return nil
		case lost != nil && isMoving(err):
			return lost
		case failed != nil && failed.guard != nil && sqlState(err) == stateDivisionByZero:
			return t.refuse(failed, failed.guard)
		case failed != nil && failed.conflicts[violatedConstraint(err)] != nil:
			return t.refuse(failed, failed.conflicts[violatedConstraint(err)])
		case try >= maxRetries || ctx.Err() != nil:
			return err
		case retryable(err):
		case connectionLost(err) && t.idempotentBy != "":
			lost = err
		default:
			return err
		}
		t.db.metrics.retries.WithLabelValues(string(t.home), retryReason(err)).Inc()
		addRetry(ctx, err)
		if !backOff(ctx, try) {
			return err
		}
	}
}

// refuse returns the refusal of the step that made the transaction fail.
func (t *Tx) refuse(failed *Step, refusal error) error {
	if t.db.refused != nil {
		t.db.refused(failed.queued())
	}
	return refusal
}

// stepsOf returns the steps of an attempt.
func (t *Tx) stepsOf(maybeCommitted bool) []Step {
	if maybeCommitted || !slices.ContainsFunc(t.steps, func(s Step) bool { return s.recovers }) {
		return t.steps
	}
	return slices.DeleteFunc(slices.Clone(t.steps), func(s Step) bool { return s.recovers })
}

// backOff waits before a retry: 1 to 2 ms at first, doubling with each retry up to about 100 ms. It returns false if
// ctx is done.
func backOff(ctx context.Context, try int) bool {
	limit := time.Millisecond << min(try, 6)
	timer := time.NewTimer(limit + rand.N(limit+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

const (
	sqlBegin              = "BEGIN ISOLATION LEVEL SERIALIZABLE"
	sqlBeginReadCommitted = "BEGIN ISOLATION LEVEL READ COMMITTED"
	sqlCommit             = "COMMIT"
	sqlRollback           = "ROLLBACK"
)

// run sends the transaction once. It returns the step that failed, if any, with the error.
func (t *Tx) run(ctx context.Context, h *home, steps []Step) (failed *Step, err error) {
	t.db.metrics.roundTrips.WithLabelValues(string(t.home)).Inc()
	conn, release, err := h.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	began := t.db.routes.enter()
	defer func() { t.leave(ctx, began, err) }()
	if err := t.requireWritable(ctx); err != nil {
		return nil, err
	}
	defer h.shards.choose(t.shardArgs)()
	if err := t.db.fault(); err != nil {
		return nil, err
	}
	var batch pgx.Batch
	if t.readCommitted {
		batch.Queue(sqlBeginReadCommitted)
	} else {
		batch.Queue(sqlBegin)
	}
	prefix := 1 // statements before those of the steps
	if t.db.cockroach(conn.Conn()) {
		batch.Queue(sqlWaitForLocks)
		prefix++
	}
	for _, s := range steps {
		batch.Queue(s.statement.on(conn.Conn()), s.args...)
	}
	batch.Queue(sqlCommit)
	results := conn.SendBatch(ctx, &batch)
	failed, err = readResults(results, prefix, steps)
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	if err != nil && conn.Conn().PgConn().TxStatus() != 'I' {
		_ = rollBack(ctx, conn.Conn(), t.db.limits.CancelGrace) // the pool discards connections that are in a transaction
	}
	return failed, err
}

// rollBack ends a transaction that failed within a time limit, also if its caller has gone away, so that the pool keeps the connection.
func rollBack(ctx context.Context, conn *pgx.Conn, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	_, err := conn.Exec(ctx, sqlRollback)
	return err
}

var errRolledBack = errors.New("the database rolled the transaction back")

// readResults reads the results of a transaction, which begins with prefix statements before those of the steps.
func readResults(results pgx.BatchResults, prefix int, steps []Step) (*Step, error) {
	for range prefix {
		if _, err := results.Exec(); err != nil {
			return nil, err
		}
	}
	for i := range steps {
		s := &steps[i]
		if err := s.readResult(results); err != nil {
			return s, err
		}
	}
	tag, err := results.Exec() // COMMIT
	if err == nil && tag.String() != sqlCommit {
		err = errRolledBack
	}
	return nil, err
}

func (s *Step) readResult(results pgx.BatchResults) error {
	if s.scan == nil {
		_, err := results.Exec()
		return err
	}
	return scanResult(results, s.scan, nil)
}
