package service

import (
	"context"

	"github.com/plaza-social/plaza/platform/store"
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
