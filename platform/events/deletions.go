package events

import (
	"context"

	"github.com/plaza-social/plaza/platform/groupcommit"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// Limits of the deletions of delivered rows in one home.
const (
	maxDeletion         = 500    // rows in one transaction
	maxWaitingDeletions = 10_000 // rows; further ones are left to the workers, which deliver them again
)

// newDeletions returns the queue of delivered rows of one home that are deleted in the background. Rows that are not deleted,
// because the home or this server fails, are delivered again.
func newDeletions(st *store.Store, home region.Code) *groupcommit.Queue[store.OutboxRow] {
	return &groupcommit.Queue[store.OutboxRow]{
		Max: maxDeletion, MaxWaiting: maxWaitingDeletions,
		Commit: func(ctx context.Context, rows []store.OutboxRow) []error {
			return groupcommit.Each(st.DeleteOutboxRows(store.WithoutIdempotency(ctx), home, rows), len(rows))
		},
	}
}
