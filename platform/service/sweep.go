package service

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// SweepRows returns the job that deletes rows of a home, a limited number in each transaction, until sweep finds none.
func (d *Deps) SweepRows(name string, every time.Duration, sweep func(tx *store.Tx, removed *int64)) jobs.Job {
	return jobs.New(name, every, d.Log, func(ctx context.Context, home region.Code) (more bool, err error) {
		var removed int64
		tx := d.Store.NewTx(home)
		sweep(tx, &removed)
		err = tx.Commit(ctx)
		return removed > 0, err
	})
}
