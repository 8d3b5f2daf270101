package presence

import (
	"context"
	"errors"
	"time"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// The intervals at which heartbeats are stored and ended presences are removed.
const (
	storeEvery = time.Second
	sweepEvery = 30 * time.Second
)

// ended is how long ago a presence must have ended to be removed: the clocks of servers may differ.
const ended = time.Minute

// StoreJob returns the job that stores the heartbeats of this server. It must run for every home.
func (s *Service) StoreJob() jobs.Job {
	return jobs.New("presence", storeEvery, s.Log, s.store)
}

// store stores some heartbeats of a home. They wait again if that fails.
func (s *Service) store(ctx context.Context, home region.Code) (more bool, err error) {
	taken, more := s.beats.take(home, s.Now())
	if len(taken) == 0 {
		return false, nil
	}
	tx := s.Store.NewTx(home)
	tx.RenewPresences(taken)
	if err := tx.Commit(ctx); err != nil {
		for _, p := range taken {
			err = errors.Join(err, s.beats.add(home, p))
		}
		return false, err
	}
	return more, nil
}

// SweepJob returns the job that removes the presences of this region's home that have ended.
func (s *Service) SweepJob() jobs.Job {
	return s.SweepRows("presence sweep", sweepEvery, func(tx *store.Tx, removed *int64) { tx.SweepPresences(s.Now().Add(-ended), removed) })
}
