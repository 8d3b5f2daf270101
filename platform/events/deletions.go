package events

import (
	"context"
	"sync"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// Limits of the deletions of delivered rows in one home.
const (
	maxDeletion         = 500    // rows in one transaction
	maxWaitingDeletions = 10_000 // rows; further ones are left to the workers, which deliver them again
)

// deletions deletes delivered rows of one home in the background. Rows that are delivered during a transaction are deleted
// together in the next one. Rows that are not deleted, because the home or this server fails, are delivered again.
type deletions struct {
	store *store.Store
	home  region.Code

	mu      sync.Mutex
	waiting []store.OutboxRow
	busy    bool
}

func (d *deletions) add(ctx context.Context, rows []store.OutboxRow) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.waiting)+len(rows) > maxWaitingDeletions {
		return
	}
	d.waiting = append(d.waiting, rows...)
	if !d.busy && len(rows) > 0 {
		d.busy = true
		go d.work(store.WithoutIdempotency(context.WithoutCancel(ctx)))
	}
}

// work deletes rows until none are waiting.
func (d *deletions) work(ctx context.Context) {
	for rows := d.next(); len(rows) > 0; rows = d.next() {
		_ = d.store.DeleteOutboxRows(ctx, d.home, rows)
	}
}

func (d *deletions) next() []store.OutboxRow {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := min(len(d.waiting), maxDeletion)
	rows := d.waiting[:n:n]
	d.waiting = d.waiting[n:]
	d.busy = n > 0
	return rows
}
