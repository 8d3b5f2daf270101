// Package store contains all SQL of the platform, one file per noun. Package db below it is the engine that connects to
// the homes and runs the statements.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

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

// CommitAtHomes commits a transaction with a change at every home concurrently: one that does not answer does not keep the others from it.
func (s *Store) CommitAtHomes(ctx context.Context, change func(*Tx)) error {
	var g sync.WaitGroup
	errs := make([]error, len(region.All()))
	for i, home := range region.All() {
		g.Go(func() {
			tx := s.NewTx(home)
			change(tx)
			errs[i] = tx.Commit(ctx)
		})
	}
	g.Wait()
	return errors.Join(errs...)
}

// InteractiveTx is db.InteractiveTx.
type InteractiveTx = db.InteractiveTx

// Statements returns every statement of the program.
func Statements() []db.Statement { return db.Statements() }

// emptyIfNil returns an empty list for nil, which would be stored as NULL.
func emptyIfNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// objectIfNil returns the JSON of an empty object for nil.
func objectIfNil(raw []byte) []byte {
	if raw == nil {
		return []byte("{}")
	}
	return raw
}

// plainJSON returns the JSON of a value that contains only texts, numbers and times.
func plainJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("store: " + err.Error()) // the types can always be encoded
	}
	return raw
}

// elsewhere reports whether the row of an id is stored in another home.
func (w *Tx) elsewhere(id string) bool {
	home, err := w.HomeOf(id)
	return err != nil || home != w.Home()
}
