package db

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"github.com/plaza-social/plaza/platform/budget"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

// Batch is a set of read statements. Run sends them in one round trip to each home, to all homes concurrently. Results
// are stored by the scan functions and are complete when Run returns.
type Batch struct {
	db         *DB
	timeout    time.Duration
	bestEffort bool
	incomplete bool // whether rows were left out because they are moving
	queries    map[region.Code][]query
	missing    []region.Code
	only       []region.Code // all homes if empty
	then       []func()
	finally    []func()
	since      uint64 // epoch of the routes
}

type query struct {
	statement *Statement
	args      []any
	scan      func(pgx.Rows) error
}

// usualQueries is as many statements as most batches have.
const usualQueries = 8

// NewBatch returns an empty batch. Its Run fails if any home is unavailable.
func (d *DB) NewBatch() *Batch {
	return &Batch{db: d, timeout: d.timeout, queries: map[region.Code][]query{}, since: d.routes.epochNumber()}
}

// NewBestEffortBatch returns an empty batch for related rows, such as the authors of a page of comments: results of an
// unavailable home are left out instead of failing Run, and Missing returns the home.
func (d *DB) NewBestEffortBatch() *Batch {
	b := d.NewBatch()
	b.bestEffort, b.timeout = true, min(d.limits.BestEffort, d.timeout)
	return b
}

// Only makes Add ignore statements for other homes. It must be called first.
func (b *Batch) Only(homes []region.Code) { b.only = homes }

// Add queues a statement. The home is its first argument. scan is called once for each attempt and must not keep
// results of an earlier one.
func (b *Batch) Add(home region.Code, st *Statement, scan func(pgx.Rows) error, args ...any) {
	if len(b.only) > 0 && !slices.Contains(b.only, home) {
		return
	}
	queries := b.queries[home]
	if queries == nil {
		queries = make([]query, 0, usualQueries)
	}
	all := append(append(make([]any, 0, len(args)+1), string(home)), args...)
	b.queries[home] = append(queries, query{statement: st, args: all, scan: scan})
}

// Then queues a function to call after all statements have succeeded, such as one that merges the rows of several
// homes. If it queues further statements, Run sends them in another round trip.
func (b *Batch) Then(f func()) { b.then = append(b.then, f) }

// Finally queues a function to call after the last round trip, for results that functions of Then add to.
func (b *Batch) Finally(f func()) { b.finally = append(b.finally, f) }

// Empty reports whether no statement is queued.
func (b *Batch) Empty() bool { return len(b.queries) == 0 }

// Missing returns the homes that a best-effort batch got no results from.
func (b *Batch) Missing() []region.Code { return b.missing }

// Incomplete reports whether a best-effort batch left out rows because they are moving to another home. A row that it did not find may
// exist then.
func (b *Batch) Incomplete() bool { return b.incomplete }

// Queued returns the queued statements, for tests of query plans.
func (b *Batch) Queued() []Queued {
	var all []Queued
	for _, queries := range b.queries {
		for _, q := range queries {
			all = append(all, Queued{Statement: q.statement, SQL: q.statement.SQL, Args: q.args})
		}
	}
	return all
}

// Run sends the statements and scans the results. It must not be called twice.
func (b *Batch) Run(ctx context.Context) error {
	for !b.Empty() {
		if err := b.runOnce(ctx); err != nil {
			return err
		}
	}
	for _, f := range b.finally {
		f()
	}
	return nil
}

// runOnce sends the queued statements and calls the queued functions.
func (b *Batch) runOnce(ctx context.Context) error {
	defer b.db.routes.enter().leave()
	if err := b.requireReadable(ctx); err != nil {
		return err
	}
	countRoundTrip(ctx)
	errs := b.runAll(ctx)
	if err := b.require(ctx, errs); err != nil {
		return err
	}
	then := b.then
	b.queries, b.then = map[region.Code][]query{}, nil
	for _, f := range then {
		f()
	}
	return nil
}

// require returns the first of the errors of the homes. In a best-effort batch, homes that are unavailable are missing
// instead.
func (b *Batch) require(ctx context.Context, errs [3]error) error {
	for i, code := range region.All() {
		if errs[i] == nil {
			continue
		}
		if b.bestEffort && errors.Is(errs[i], fail.Unavailable("", nil)) {
			b.missing = append(b.missing, code)
			region.Miss(ctx, code)
			b.db.log.WarnContext(ctx, "related rows left out", "home", code, "error", errs[i])
			continue
		}
		return errs[i]
	}
	return nil
}

func (b *Batch) runAll(ctx context.Context) [3]error {
	var errs [3]error
	if len(b.queries) == 1 { // the usual case needs no goroutine
		for i, code := range region.All() {
			if queries := b.queries[code]; queries != nil {
				errs[i] = b.runHome(ctx, code, queries)
			}
		}
		return errs
	}
	var g errgroup.Group
	for i, code := range region.All() {
		if queries := b.queries[code]; queries != nil {
			g.Go(func() error { errs[i] = b.runHome(ctx, code, queries); return nil })
		}
	}
	_ = g.Wait()
	return errs
}

func (b *Batch) runHome(ctx context.Context, code region.Code, queries []query) error {
	h := b.db.homes[code]
	ctx, traced := startSpan(ctx, "read", code, func() []string { return namesOfQueries(queries) })
	bounded, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	err := h.roundTrip(ctx, func() error {
		b.db.metrics.roundTrips.WithLabelValues(string(code)).Inc()
		return retryRead(bounded, h, queries)
	})
	if err != nil && unreachable(err) {
		b.db.metrics.unavailable.WithLabelValues(string(code)).Inc()
	}
	endSpan(traced, err)
	return err
}

// retryRead retries after a conflict or a lost connection, which is safe for reads, and while a row is locked. The number of
// attempts exceeds the number of connections, because a restart of the database invalidates every connection of the pool. A
// second connection that cannot be opened ends the attempts: more would cost a database that cannot serve them.
func retryRead(ctx context.Context, h *home, queries []query) error {
	refused := 0
	for try := int32(0); ; try++ {
		err := sendQueries(ctx, h, queries)
		if sqlState(err) == stateLockNotAvailable {
			err = h.readLocked(ctx, queries)
		}
		if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
			refused++
		}
		retry := retryable(err) || connectionLost(err) && refused < 2
		if !retry || ctx.Err() != nil || try > h.pool.Config().MaxConns {
			return err
		}
	}
}

func sendQueries(ctx context.Context, h *home, queries []query) error {
	conn, release, err := h.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	var batch pgx.Batch // pgx keeps per-connection state in it, so that each attempt needs a new one
	for _, q := range queries {
		batch.Queue(q.statement.on(conn.Conn()), q.args...)
	}
	results := conn.SendBatch(ctx, &batch)
	for _, q := range queries {
		if err := scanResult(results, q.scan, budget.RowsOf(ctx)); err != nil {
			_ = results.Close()
			return err
		}
	}
	return results.Close()
}

// limitedRows are rows that end with an error when they exceed the budget of the request.
type limitedRows struct {
	pgx.Rows
	limit *budget.Rows
	err   error
}

// Next implements pgx.Rows.
func (r *limitedRows) Next() bool {
	if r.err != nil || !r.Rows.Next() {
		return false
	}
	size := 0
	for _, value := range r.RawValues() {
		size += len(value)
	}
	if r.err = r.limit.Take(size); r.err != nil {
		r.Close()
	}
	return r.err == nil
}

// Err implements pgx.Rows.
func (r *limitedRows) Err() error { return cmp.Or(r.err, r.Rows.Err()) }

func scanResult(results pgx.BatchResults, scan func(pgx.Rows) error, limit *budget.Rows) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	if limit != nil {
		rows = &limitedRows{Rows: rows, limit: limit}
	}
	if err := scan(rows); err != nil {
		return err
	}
	rows.Close()
	return rows.Err()
}
