package erasure

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

const (
	// pollInterval is the time between two searches for due erasures.
	pollInterval = 2 * time.Second
	// lease is how long a server keeps an erasure that it works on without progress.
	lease = time.Minute
	// settleTime is the time between the two passes. It is longer than any request, and than the time for which servers
	// cache user ids.
	settleTime = 90 * time.Second
	// pageSize is the number of rows that are read at a time.
	pageSize = 500
	// maxBackoff limits the time between two attempts while a home is unavailable.
	maxBackoff = 5 * time.Minute
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

// advance takes the remaining steps of a pass. An error postpones the erasure, with the progress made so far. It
// leaves the erasure to another server that works on it.
func (s *Service) advance(ctx context.Context, e store.Erasure) error {
	err := s.claim(ctx, &e)
	for err == nil {
		var done bool
		if done, err = s.nextPage(ctx, &e); done {
			return err
		}
	}
	switch {
	case errors.Is(err, store.ErrConflict):
		return nil
	case ctx.Err() != nil:
		return err // the lease ends
	}
	e.Attempts++
	e.DueAt = s.Now().Add(min(time.Second<<min(e.Attempts, 10), maxBackoff))
	if saveErr := s.save(ctx, &e); saveErr != nil {
		return saveErr
	}
	return err
}

// claim makes sure that no other server works on the erasure for the duration of the lease.
func (s *Service) claim(ctx context.Context, e *store.Erasure) error {
	e.DueAt = s.Now().Add(lease)
	return s.save(ctx, e)
}

func (s *Service) save(ctx context.Context, e *store.Erasure) error {
	tx := s.Store.NewTx(service.HomeOf(e.ID))
	tx.UpdateErasure(*e, s.Now())
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	e.Version++
	return nil
}

// nextPage processes a page of the current step and stores the progress. done reports whether the pass is complete.
func (s *Service) nextPage(ctx context.Context, e *store.Erasure) (done bool, err error) {
	began := time.Now()
	all := s.steps()
	i := indexOf(all, e.Step)
	if i == len(all) {
		return true, s.finishPass(ctx, e)
	}
	result, err := all[i].page(ctx, s.pass(*e), e.Position)
	if err != nil {
		return false, err
	}
	e.Erased = add(e.Erased, all[i].kind, result.erased)
	e.Position, e.Attempts = result.position, 0
	if result.last {
		e.Step, e.Position = nameAfter(all, i), nil
	}
	if err := s.claim(ctx, e); err != nil {
		return false, err
	}
	return false, pause(ctx, time.Since(began))
}

// pause waits as long as the last page took, so that an erasure uses at most half of a connection.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
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

func counts(erased []byte) map[string]int32 {
	all := map[string]int32{}
	_ = json.Unmarshal(erased, &all) // written by add
	return all
}

// add adds n to the count of a kind of rows.
func add(erased []byte, kind string, n int32) []byte {
	if n == 0 {
		return erased
	}
	all := counts(erased)
	all[kind] += n
	raw, err := json.Marshal(all)
	if err != nil {
		panic("erasure: counts: " + err.Error()) // a map of numbers
	}
	return raw
}
