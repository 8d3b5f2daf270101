package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

// Reads gathers statements to read with. Run sends them all at once: one round trip to each home, the homes in
// parallel. The nouns' files add methods to it, each of which names where its result goes; results are there when Run
// has returned.
type ReadBatch struct {
	store    *Store
	timeout  time.Duration
	optional bool
	batches  map[region.Code]readBatch
	missing  []region.Code
	finish   []func()
}

type readBatch []read

type read struct {
	sql  string
	args []any
	scan func(pgx.Rows) error
}

// NewReadBatch starts an empty gathering in which every home has to answer.
func (s *Store) NewReadBatch() *ReadBatch {
	return &ReadBatch{store: s, timeout: s.timeout, batches: map[region.Code]readBatch{}}
}

// relatedTimeout bounds what a page waits for the homes of what it refers to.
const relatedTimeout = time.Second

// NewBestEffortBatch starts an empty gathering for what an answer refers to: a home that does not answer leaves its part out, and
// Missing names it. A page without the author of a comment beats an error.
func (s *Store) NewBestEffortBatch() *ReadBatch {
	r := s.NewReadBatch()
	r.optional, r.timeout = true, min(relatedTimeout, s.timeout)
	return r
}

// add queues a statement; scan sees its rows, and has to make its result anew each time it is called.
func (r *ReadBatch) add(home region.Code, st *Statement, scan func(pgx.Rows) error, args ...any) {
	r.batches[home] = append(r.batches[home], read{sql: st.SQL, args: append([]any{string(home)}, args...), scan: scan})
}

// Then queues what puts results of several homes together, once all of them are there.
func (r *ReadBatch) Then(finish func()) { r.finish = append(r.finish, finish) }

// Empty reports whether there is nothing to run.
func (r *ReadBatch) Empty() bool { return len(r.batches) == 0 }

// Missing returns the homes that did not answer a gathering of Related.
func (r *ReadBatch) Missing() []region.Code { return r.missing }

// Run sends the statements and fills the results. It may be called once.
func (r *ReadBatch) Run(ctx context.Context) error {
	if r.Empty() {
		return nil
	}
	countRoundTrip(ctx)
	errs := r.runAll(ctx)
	for i, code := range region.All() {
		if errs[i] == nil {
			continue
		}
		if r.optional && errors.Is(errs[i], fail.Unavailable("", nil)) {
			r.missing = append(r.missing, code)
			r.store.log.WarnContext(ctx, "related rows left out", "home", code, "error", errs[i])
			continue
		}
		return errs[i]
	}
	for _, finish := range r.finish {
		finish()
	}
	return nil
}

func (r *ReadBatch) runAll(ctx context.Context) [3]error {
	var errs [3]error
	if len(r.batches) == 1 { // the usual case needs no goroutine
		for i, code := range region.All() {
			if b := r.batches[code]; b != nil {
				errs[i] = r.runHome(ctx, code, b)
			}
		}
		return errs
	}
	var g errgroup.Group
	for i, code := range region.All() {
		if b := r.batches[code]; b != nil {
			g.Go(func() error { errs[i] = r.runHome(ctx, code, b); return nil })
		}
	}
	_ = g.Wait()
	return errs
}

func (r *ReadBatch) runHome(ctx context.Context, code region.Code, b readBatch) error {
	h := r.store.homes[code]
	bounded, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	err := h.roundTrip(ctx, func() error {
		r.store.metrics.roundTrips.WithLabelValues(string(code)).Inc()
		return retrySafe(bounded, h, b)
	})
	if err != nil && unreachable(err) {
		r.store.metrics.away.WithLabelValues(string(code)).Inc()
	}
	return err
}

// retrySafe runs a read again after a conflict or a lost connection, which a read may always do. When the database
// restarts, each connection of the pool can be a lost one.
func retrySafe(ctx context.Context, h *home, b readBatch) error {
	for try := int32(0); ; try++ {
		err := sendReads(ctx, h, b)
		again := retryable(err) || lost(err)
		if !again || ctx.Err() != nil || try > h.pool.Config().MaxConns {
			return err
		}
	}
}

func sendReads(ctx context.Context, h *home, b readBatch) error {
	conn, err := h.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	var batch pgx.Batch // a new one each time: pgx notes in it what the connection knows, and another knows other things
	for _, q := range b {
		batch.Queue(q.sql, q.args...)
	}
	results := conn.SendBatch(ctx, &batch)
	for _, q := range b {
		if err := readOne(results, q.scan); err != nil {
			_ = results.Close()
			return err
		}
	}
	return results.Close()
}

func readOne(results pgx.BatchResults, scan func(pgx.Rows) error) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	if err := scan(rows); err != nil {
		return err
	}
	rows.Close()
	return rows.Err()
}

// scanAll returns a scan that collects every row with one.
func scanAll[T any](into *[]T, one func(pgx.Rows) (T, error)) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		*into = nil
		for rows.Next() {
			v, err := one(rows)
			if err != nil {
				return err
			}
			*into = append(*into, v)
		}
		return nil
	}
}

// scanOne returns a scan that keeps the first row, or nil where there is none.
func scanOne[T any](into **T, one func(pgx.Rows) (T, error)) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		*into = nil
		if !rows.Next() {
			return nil
		}
		v, err := one(rows)
		if err != nil {
			return err
		}
		*into = &v
		return nil
	}
}

// scanValue returns a scan of a statement that answers with one value.
func scanValue[T any](into *T) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		if !rows.Next() {
			return rows.Err()
		}
		return rows.Scan(into)
	}
}
