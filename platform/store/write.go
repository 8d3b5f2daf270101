package store

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

// Write gathers the statements of one transaction in one home. Commit sends them in one round trip, begin and commit
// included, and runs them again as long as the database asks for it: nothing in a Write has an effect outside.
type Tx struct {
	store *Store
	home  region.Code
	steps []step
	// once names the primary key that a repeated run after a lost connection violates if the first run took effect.
	once string
}

type step struct {
	statement *Statement
	args      []any
	scan      func(pgx.Rows) error
	guard     error
	conflicts map[string]error
}

// NewTx starts an empty transaction in home.
func (s *Store) NewTx(home region.Code) *Tx { return &Tx{store: s, home: home} }

// Home returns where the transaction writes.
func (w *Tx) Home() region.Code { return w.home }

func (w *Tx) exec(st *Statement, args ...any) *step { return w.query(st, nil, args...) }

// query queues a statement whose rows scan sees; scan has to make its result anew each time it is called.
func (w *Tx) query(st *Statement, scan func(pgx.Rows) error, args ...any) *step {
	w.steps = append(w.steps, step{statement: st, scan: scan, args: append([]any{string(w.home)}, args...)})
	return &w.steps[len(w.steps)-1]
}

// guard queues a condition. The statement divides by what it counts: a count of zero fails the statement, and with it
// the transaction, on both engines and in the middle of a pipeline. The caller then gets refusal.
func (w *Tx) guard(st *Statement, refusal error, args ...any) {
	w.query(st, nil, args...).guard = refusal
}

// conflict makes the violation of a unique constraint an answer of the domain.
func (s *step) conflict(constraint string, answer error) {
	if s.conflicts == nil {
		s.conflicts = map[string]error{}
	}
	s.conflicts[constraint] = answer
}

// maxTries bounds how often a transaction is run; the back-off makes that about three seconds.
const maxTries = 40

// Commit runs the transaction. When it returns nil, everything in it is stored.
func (w *Tx) Commit(ctx context.Context) error {
	h := w.store.homes[w.home]
	bounded, cancel := context.WithTimeout(ctx, w.store.timeout)
	defer cancel()
	countRoundTrip(ctx)
	var refusal error
	err := h.roundTrip(ctx, func() error {
		err := w.commit(bounded, h)
		if _, decided := errors.AsType[*fail.Error](err); decided { // the database answered
			refusal, err = err, nil
		}
		return err
	})
	if err != nil && unreachable(err) {
		w.store.metrics.away.WithLabelValues(string(w.home)).Inc()
	}
	return cmp.Or(refusal, err)
}

func (w *Tx) commit(ctx context.Context, h *home) error {
	unknown := false // whether an earlier run may have taken effect
	for try := 0; ; try++ {
		failed, err := w.run(ctx, h)
		switch {
		case err == nil:
			return nil
		case unknown && w.once != "" && violated(err) == w.once:
			return nil // the run whose answer got lost is the one that stored it
		case failed != nil && failed.guard != nil && sqlState(err) == stateDivisionByZero:
			return failed.guard
		case failed != nil && failed.conflicts[violated(err)] != nil:
			return failed.conflicts[violated(err)]
		case try >= maxTries || ctx.Err() != nil:
			return err
		case retryable(err):
		case lost(err) && w.once != "":
			unknown = true
		default:
			return err
		}
		w.store.metrics.retries.WithLabelValues(string(w.home)).Inc()
		if !pause(ctx, try) {
			return err
		}
	}
}

// pause backs off before the next run: 1 to 2 ms at first, twice as long each time, at most about 100 ms.
func pause(ctx context.Context, try int) bool {
	limit := time.Millisecond << min(try, 6)
	timer := time.NewTimer(limit + rand.N(limit+1)) //nolint:gosec // a wait that need not be a secret
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

const (
	sqlBegin    = "BEGIN ISOLATION LEVEL SERIALIZABLE"
	sqlCommit   = "COMMIT"
	sqlRollback = "ROLLBACK"
)

// run sends the transaction once. The step that failed is returned beside the error, where it was one of them.
func (w *Tx) run(ctx context.Context, h *home) (*step, error) {
	w.store.metrics.roundTrips.WithLabelValues(string(w.home)).Inc()
	conn, err := h.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	if err := w.store.fault(); err != nil {
		return nil, err
	}
	var batch pgx.Batch
	batch.Queue(sqlBegin)
	for _, s := range w.steps {
		batch.Queue(s.statement.SQL, s.args...)
	}
	batch.Queue(sqlCommit)
	results := conn.SendBatch(ctx, &batch)
	failed, err := w.read(results)
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	if err != nil && conn.Conn().PgConn().TxStatus() != 'I' {
		_, _ = conn.Exec(ctx, sqlRollback) // a connection in a transaction would be thrown away
	}
	return failed, err
}

func (w *Tx) read(results pgx.BatchResults) (*step, error) {
	if _, err := results.Exec(); err != nil { // BEGIN
		return nil, err
	}
	for i := range w.steps {
		s := &w.steps[i]
		if err := w.readStep(results, s); err != nil {
			return s, err
		}
	}
	tag, err := results.Exec() // COMMIT
	if err == nil && tag.String() != sqlCommit {
		err = errors.New("the database rolled the transaction back")
	}
	return nil, err
}

func (w *Tx) readStep(results pgx.BatchResults, s *step) error {
	if s.scan == nil {
		_, err := results.Exec()
		return err
	}
	return readOne(results, s.scan)
}
