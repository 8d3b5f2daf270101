// Package core is what the statements of the packages of the store have in common: batches and transactions, lists and their windows,
// counts, the outbox, and the files that objects refer to.
package core

import (
	"encoding/json"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Store reads and writes the rows of every home.
type Store struct{ *db.DB }

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

// HomeOrNone returns the home of an id; empty if the id is malformed and therefore has no rows.
func (r *ReadBatch) HomeOrNone(id string) region.Code {
	home, _ := r.HomeOf(id)
	return home
}

// AddAt queues a statement at the home of id.
func (r *ReadBatch) AddAt(id string, st *db.Statement, scan func(pgx.Rows) error, args ...any) {
	r.Add(r.HomeOrNone(id), st, scan, args...)
}

// ReadMany queues a statement at each home that has any of ids, with these ids as its first argument, and stores the rows in
// into in no particular order.
func ReadMany[T any](r *ReadBatch, ids []string, st *db.Statement, into *[]T, args ...any) {
	*into = nil
	AddMany(r, ids, st, into, args...)
}

// AddMany is ReadMany and keeps the rows that into has.
func AddMany[T any](r *ReadBatch, ids []string, st *db.Statement, into *[]T, args ...any) {
	for home, ids := range r.ByHome(ids) {
		AppendRows(r, home, st, into, append([]any{ids}, args...)...)
	}
}

// ReadEveryHome queues a statement at each home and appends the rows to into, home by home.
func ReadEveryHome[T any](r *ReadBatch, st *db.Statement, into *[]T, args ...any) {
	for _, home := range region.All() {
		AppendRows(r, home, st, into, args...)
	}
}

// AppendRows queues a statement whose rows are appended to into when the batch has run, unless its home is missing: a home
// that fails after its first statement has no rows.
func AppendRows[T any](r *ReadBatch, home region.Code, st *db.Statement, into *[]T, args ...any) {
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

// EmptyIfNil returns an empty list for nil, which would be stored as NULL.
func EmptyIfNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// ObjectIfNil returns the JSON of an empty object for nil.
func ObjectIfNil(raw []byte) []byte {
	if raw == nil {
		return []byte("{}")
	}
	return raw
}

// PlainJSON returns the JSON of a value that contains only texts, numbers and times.
func PlainJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("store: " + err.Error()) // the types can always be encoded
	}
	return raw
}

// Elsewhere reports whether the row of an id is stored in another home.
func (w *Tx) Elsewhere(id string) bool {
	home, err := w.HomeOf(id)
	return err != nil || home != w.Home()
}
