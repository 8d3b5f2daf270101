package steps

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// BackfillDelay is how long servers of an earlier version may run after the first server of this one.
const BackfillDelay = time.Hour

// Backfill adds to the rows of each home what servers of earlier versions did not write. It runs once.
type Backfill struct {
	Store *store.Store
	Now   func() time.Time
	Name  string // of the stored progress
	// Steps returns the steps of a home.
	Steps func(home region.Code) []Step
}

// Run takes the backfill of a home as far as it gets, if it is due.
func (f Backfill) Run(ctx context.Context, home region.Code) error {
	var b *store.Backfill
	reads := f.Store.NewReadBatch()
	reads.Backfill(home, f.Name, &b)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	switch {
	case b == nil:
		tx := f.Store.NewTx(home)
		tx.InsertBackfill(f.Name, f.Now().Add(BackfillDelay))
		return tx.Commit(ctx)
	case b.FinishedAt != nil || f.Now().Before(b.DueAt):
		return nil
	}
	save := func(ctx context.Context) error { return f.save(ctx, home, b) }
	job := &Job{
		Progress: &b.Progress, Now: f.Now, Count: func(string, int32) {}, Save: save, Steps: f.Steps(home),
		Finish: func(ctx context.Context) error {
			now := f.Now()
			b.FinishedAt = &now
			return save(ctx)
		},
	}
	return job.Advance(ctx)
}

func (f Backfill) save(ctx context.Context, home region.Code, b *store.Backfill) error {
	tx := f.Store.NewTx(home)
	tx.UpdateBackfill(*b)
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	b.Version++
	return nil
}
