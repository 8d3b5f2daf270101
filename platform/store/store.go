// Package store contains all SQL of the platform, one file per noun. Package db below it is the engine that connects to
// the homes and runs the statements.
package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Store reads and writes the rows of every home.
type Store struct{ *db.DB }

// Open opens the connection pools. See db.Open.
func Open(ctx context.Context, cfg db.Config) (*Store, error) {
	d, err := db.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &Store{d}, nil
}

// ReadBatch is a batch of reads with one method per query, which takes a pointer to where Run stores the result.
type ReadBatch struct {
	*db.Batch
	stops []Position
}

// NewReadBatch returns an empty batch. Its Run fails if any home is unavailable.
func (s *Store) NewReadBatch() *ReadBatch { return &ReadBatch{Batch: s.NewBatch()} }

// NewBestEffortBatch returns an empty batch for related rows: the results of an unavailable home are left out.
func (s *Store) NewBestEffortBatch() *ReadBatch { return &ReadBatch{Batch: s.DB.NewBestEffortBatch()} }

// Add is Add of db.Batch. Nothing is queued without a home.
func (r *ReadBatch) Add(home region.Code, st *db.Statement, scan func(pgx.Rows) error, args ...any) {
	if home != "" {
		r.Batch.Add(home, st, scan, args...)
	}
}

// homeOf returns the home of an id; empty if the id is malformed and therefore has no rows.
func (r *ReadBatch) homeOf(id string) region.Code {
	home, _ := r.HomeOf(id)
	return home
}

// addAt queues a statement at the home of id.
func (r *ReadBatch) addAt(id string, st *db.Statement, scan func(pgx.Rows) error, args ...any) {
	r.Add(r.homeOf(id), st, scan, args...)
}

// readMany queues a statement at each home that has any of ids, with these ids as its first argument, and stores the rows in
// into in no particular order.
func readMany[T any](r *ReadBatch, ids []string, st *db.Statement, into *[]T, args ...any) {
	*into = nil
	addMany(r, ids, st, into, args...)
}

// addMany is readMany and keeps the rows that into has.
func addMany[T any](r *ReadBatch, ids []string, st *db.Statement, into *[]T, args ...any) {
	for home, ids := range r.ByHome(ids) {
		appendRows(r, home, st, into, append([]any{ids}, args...)...)
	}
}

// readEveryHome queues a statement at each home and appends the rows to into, home by home.
func readEveryHome[T any](r *ReadBatch, st *db.Statement, into *[]T, args ...any) {
	for _, home := range region.All() {
		appendRows(r, home, st, into, args...)
	}
}

// appendRows queues a statement whose rows are appended to into when the batch has run, unless its home is missing: a home
// that fails after its first statement has no rows.
func appendRows[T any](r *ReadBatch, home region.Code, st *db.Statement, into *[]T, args ...any) {
	part := new([]T)
	r.Add(home, st, db.Rows(part), args...)
	r.Then(func() {
		if !slices.Contains(r.Missing(), home) {
			*into = append(*into, *part...)
		}
	})
}

// Tx is a transaction in one home with one method per change.
type Tx struct{ *db.Tx }

// NewTx returns an empty transaction in home.
func (s *Store) NewTx(home region.Code) *Tx { return &Tx{s.DB.NewTx(home)} }

// InteractiveTx is db.InteractiveTx.
type InteractiveTx = db.InteractiveTx

// stmt registers a statement of this package.
func stmt(name, sql string) *db.Statement { return db.Register(name, sql) }

// Statements returns every statement of the program.
func Statements() []db.Statement { return db.Statements() }
