package service

import (
	"context"
	"errors"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
)

// Read sends one query in a round trip of its own, such as Read(ctx, d, (*store.ReadBatch).Room, id).
func Read[P, R any](ctx context.Context, d *Deps, query func(*store.ReadBatch, P, *R), param P) (R, error) {
	var result R
	reads := d.Store.NewReadBatch()
	query(reads, param, &result)
	err := reads.Run(ctx)
	return result, err
}

// ReadAvailable is Read without the rows of homes that are unavailable.
func ReadAvailable[P, R any](ctx context.Context, d *Deps, query func(*store.ReadBatch, P, *R), param P) (R, error) {
	var result R
	reads := d.Store.NewBestEffortBatch()
	query(reads, param, &result)
	err := reads.Run(ctx)
	return result, err
}

// ErrConflict is the error of a transaction whose decision is based on a row that has changed since it was read.
var ErrConflict = core.ErrConflict

// maxConflictRetries bounds the retries of RetryOnConflict.
const maxConflictRetries = 20

// RetryOnConflict calls attempt, which reads, decides and writes, until it returns an error other than ErrConflict.
// It returns a 400900 error after too many attempts, or once ctx is done.
func RetryOnConflict[T any](ctx context.Context, attempt func() (T, error)) (T, error) {
	for try := 0; ; try++ {
		result, err := attempt()
		if !errors.Is(err, ErrConflict) {
			return result, err
		}
		if try == maxConflictRetries || ctx.Err() != nil {
			return result, fail.Conflict().Because(err)
		}
	}
}
