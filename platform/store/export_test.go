package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// Queued is a statement with its arguments, the home first, as a gathering or a transaction sends it.
type Queued struct {
	SQL  string
	Args []any
}

// Queued returns what the gathering will send.
func (r *ReadBatch) Queued() []Queued {
	var all []Queued
	for _, b := range r.batches {
		for _, q := range b {
			all = append(all, Queued{SQL: q.sql, Args: q.args})
		}
	}
	return all
}

// Queued returns what the transaction will send between its begin and its end.
func (w *Tx) Queued() []Queued {
	all := make([]Queued, 0, len(w.steps))
	for _, s := range w.steps {
		all = append(all, Queued{SQL: s.statement.SQL, Args: s.args})
	}
	return all
}

// AddSQL queues a statement of a test's own, which is not registered: it is none of the program's.
func (r *ReadBatch) AddSQL(home region.Code, sql string, scan func(pgx.Rows) error, args ...any) {
	r.add(home, &Statement{SQL: sql}, scan, args...)
}

// ExecSQL queues a statement of a test's own.
func (w *Tx) ExecSQL(sql string, args ...any) { w.exec(&Statement{SQL: sql}, args...) }

// ConflictSQL queues a statement of a test's own whose violation of constraint is answer.
func (w *Tx) ConflictSQL(constraint string, answer error, sql string, args ...any) {
	w.exec(&Statement{SQL: sql}, args...).conflict(constraint, answer)
}

// GuardSQL queues a condition of a test's own.
func (w *Tx) GuardSQL(refusal error, sql string, args ...any) {
	w.guard(&Statement{SQL: sql}, refusal, args...)
}

// Once names the primary key that a repeated run violates.
func (w *Tx) Once(constraint string) { w.once = constraint }

// SetPause replaces the time between two looks at a home that did not answer.
func (s *Store) SetPause(after func(time.Duration) <-chan time.Time) {
	for _, h := range s.homes {
		h.after = after
	}
}

// Watched reports whether the store looks for the return of a home.
func (s *Store) Watched(code region.Code) bool {
	b := &s.homes[code].breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.watching
}

// LeaseOutsideHome is leaseOutsideHome.
var LeaseOutsideHome = leaseOutsideHome

// Elsewhere and HomeRegion are the parts of CheckPlacement that need no CockroachDB.
var (
	Elsewhere = func(ctx context.Context, db *sql.DB, localities map[region.Code]string, survive string) ([]TablePlacement, error) {
		return elsewhere(ctx, db, Layout{Localities: localities, Survive: survive})
	}
	HomeRegion = homeRegion
)
