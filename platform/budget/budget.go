// Package budget limits the bytes of rows that a request reads. Package page sets the limit, and the database engine
// enforces it while rows arrive, so that rows beyond it are never in memory.
package budget

import (
	"context"
	"errors"
	"sync/atomic"
)

// ErrExceeded is the error of a read that exceeds the budget.
var ErrExceeded = errors.New("the rows exceed the budget of the request")

// smallRow is the size of rows that do not count, in bytes. Some lists read the keys of many rows for one page.
const smallRow = 256

// Rows is what remains of a budget. It can be used concurrently.
type Rows struct{ left, taken atomic.Int64 }

type key struct{}

// WithRows returns a context with a budget of bytes, and the budget.
func WithRows(ctx context.Context, bytes int64) (context.Context, *Rows) {
	r := &Rows{}
	r.left.Store(bytes)
	return context.WithValue(ctx, key{}, r), r
}

// RowsOf returns the budget of a context, nil without one.
func RowsOf(ctx context.Context) *Rows {
	r, _ := ctx.Value(key{}).(*Rows)
	return r
}

// Take takes a row of n bytes from the budget. It returns ErrExceeded if the budget does not suffice.
func (r *Rows) Take(n int) error {
	if n <= smallRow {
		return nil
	}
	if r.left.Add(-int64(n)) < 0 {
		return ErrExceeded
	}
	r.taken.Add(1)
	return nil
}

// Taken returns the number of rows that fitted, without small ones.
func (r *Rows) Taken() int { return int(r.taken.Load()) }

// Exceeded reports whether a row did not fit into the budget.
func (r *Rows) Exceeded() bool { return r.left.Load() < 0 }
