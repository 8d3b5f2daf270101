package events

import (
	"context"
	"sync"

	"github.com/plaza-social/plaza/platform/groupcommit"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/network"
)

// Limits of the deletions of delivered rows of one home.
const (
	maxDeletion         = 500    // rows in one transaction
	maxWaitingDeletions = 10_000 // rows; further ones are left to the workers, which deliver them again
)

// deletions delete delivered rows in the background. Rows that are not deleted, because the home or this server
// fails, are delivered again.
type deletions struct {
	queue groupcommit.Queue[region.Code, core.OutboxRow]

	mu      sync.Mutex
	waiting map[string]bool // ids
}

func newDeletions(st *store.Store) *deletions {
	d := &deletions{waiting: map[string]bool{}}
	d.queue.Max, d.queue.MaxWaiting = maxDeletion, maxWaitingDeletions
	d.queue.Commit = func(ctx context.Context, home region.Code, rows []core.OutboxRow) []error {
		err := st.DeleteOutboxRows(network.WithoutIdempotency(ctx), home, rows)
		d.ended(rows...)
		return groupcommit.Each(err, len(rows))
	}
	return d
}

// add deletes a row of a home later.
func (d *deletions) add(ctx context.Context, home region.Code, row core.OutboxRow) {
	d.mu.Lock()
	d.waiting[row.ID] = true
	d.mu.Unlock()
	if !d.queue.Go(ctx, home, row) {
		d.ended(row)
	}
}

// has reports whether a row was delivered and is going to be deleted.
func (d *deletions) has(row core.OutboxRow) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waiting[row.ID]
}

func (d *deletions) ended(rows ...core.OutboxRow) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, row := range rows {
		delete(d.waiting, row.ID)
	}
}
