package store

import (
	"context"

	"github.com/plaza-social/plaza/platform/store/db"
)

// WithRecord returns a context of which one transaction, the first that is committed, also stores what record adds before
// and after its changes. If record adds nothing, the next transaction is asked. stored reports whether that has happened
// or may have happened.
func WithRecord(ctx context.Context, record func(head, tail *Tx)) (with context.Context, stored func() bool) {
	return db.WithRecord(ctx, func(head, tail *db.Tx) { record(&Tx{head}, &Tx{tail}) })
}
