package erasure

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/steps"
	"github.com/plaza-social/plaza/platform/store"
)

const (
	// pollInterval is the time between two searches for due erasures.
	pollInterval = 2 * time.Second
	// settleTime is the time between the two passes. It is longer than any request, and than the time for which servers
	// cache user ids.
	settleTime = 90 * time.Second
	// pageSize is the number of rows that are read at a time.
	pageSize = 500
)

// Job returns the background job that continues the erasures of a home.
func (s *Service) Job() jobs.Job {
	return jobs.Job{Name: "erasures", Lanes: 1, Every: pollInterval, Log: s.Log, Drain: func(ctx context.Context, home region.Code, _ int64) (bool, error) {
		return s.Continue(ctx, home)
	}}
}

// Continue takes a due erasure of a home as far as it gets, and reports whether there was one.
func (s *Service) Continue(ctx context.Context, home region.Code) (more bool, err error) {
	for _, state := range []string{store.ErasureRunning, store.ErasureVerifying} {
		var due *store.Erasure
		reads := s.Store.NewReadBatch()
		reads.DueErasure(home, state, s.Now(), &due)
		if err := reads.Run(ctx); err != nil {
			return false, err
		}
		if due != nil {
			return true, s.advance(ctx, *due)
		}
	}
	return false, nil
}

// advance takes the remaining steps of a pass.
func (s *Service) advance(ctx context.Context, e store.Erasure) error {
	job := &steps.Job{
		Progress: &e.Progress, Steps: s.steps(s.pass(e)), Now: s.Now,
		Count:  func(kind string, rows int32) { e.Erased = steps.AddCount(e.Erased, kind, rows) },
		Save:   func(ctx context.Context) error { return s.save(ctx, &e) },
		Finish: func(ctx context.Context) error { return s.finishPass(ctx, &e) },
	}
	return job.Advance(ctx)
}

func (s *Service) save(ctx context.Context, e *store.Erasure) error {
	tx := s.Store.NewTx(s.HomeOf(e.ID))
	tx.UpdateErasure(*e, s.Now())
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	e.Version++
	return nil
}

// finishPass begins the second pass after the first one, or ends the erasure. It postpones either while an outbox
// contains something about the user.
func (s *Service) finishPass(ctx context.Context, e *store.Erasure) error {
	waiting, err := s.outboxRows(ctx, e.ID)
	if err != nil {
		return err
	}
	now := s.Now()
	switch {
	case waiting > 0:
		e.DueAt = now.Add(pollInterval)
	case e.State == store.ErasureRunning:
		e.State, e.Step, e.Position, e.DueAt = store.ErasureVerifying, "", nil, now.Add(settleTime)
	default:
		e.State, e.Step, e.PublicID, e.FinishedAt = store.ErasureDone, "", "", &now
		s.Log.InfoContext(ctx, "user erased", "erasure", e.ID)
	}
	return s.save(ctx, e)
}

// outboxRows returns the number of rows about a user in the outboxes of all homes.
func (s *Service) outboxRows(ctx context.Context, userID string) (int64, error) {
	var total int64
	reads := s.Store.NewReadBatch()
	for _, home := range region.All() {
		var n int64
		reads.OutboxRowsOf(home, userID, &n)
		reads.Then(func() { total += n })
	}
	err := reads.Run(ctx)
	return total, err
}
