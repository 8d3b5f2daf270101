package erasure

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/steps"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
)

const (
	// pollInterval is the time between two searches for due erasures.
	pollInterval = time.Second
	// settleTime is the time between the two passes if a server does not follow the erasure. It is longer than any request, and than
	// the time for which servers cache user ids.
	settleTime = 90 * time.Second
	// pageSize is the number of rows of the user, and of events, that are processed at a time, and visitSize the number of rows of a
	// table among which those of the user are searched, see visited.
	pageSize, visitSize = 500, 5000
)

// Job returns the background job that continues the erasures of a home.
func (s *Service) Job() jobs.Job {
	return jobs.New("erasures", pollInterval, s.Log, s.Continue)
}

// Continue takes a due erasure of a home as far as it gets, and reports whether there was one.
func (s *Service) Continue(ctx context.Context, home region.Code) (more bool, err error) {
	due := func(reads *store.ReadBatch, state string, into **lifecycle.Erasure) {
		reads.DueErasure(home, state, s.Now(), into)
	}
	return steps.Continue(ctx, s.Store, []string{lifecycle.ErasureRunning, lifecycle.ErasureVerifying}, due, s.advance)
}

// advance takes the remaining steps of a pass, in all homes concurrently. A home that is unavailable is postponed, and the others
// do not wait for it.
func (s *Service) advance(ctx context.Context, e *lifecycle.Erasure) error {
	r, err := s.newRun(e)
	if err != nil {
		return err
	}
	if e.State == lifecycle.ErasureRunning && len(r.homes) == 0 {
		if err := r.publish(ctx, lifecycle.RouteErasing); err != nil {
			s.Log.InfoContext(ctx, "not all servers learn about the erasure at once", "erasure", e.ID, "error", err)
		}
	}
	var g sync.WaitGroup
	errs := make([]error, len(region.All()))
	for i, home := range region.All() {
		g.Go(func() { errs[i] = r.advance(ctx, home) })
	}
	g.Wait()
	return errors.Join(errors.Join(errs...), r.end(ctx))
}

// progress is the progress of a pass in one home.
type progress struct {
	Step     string    `json:"step,omitempty"`
	Position []string  `json:"position,omitempty"`
	Attempts int64     `json:"attempts,omitempty"`
	DueAt    time.Time `json:"dueAt"`
	// Changed is whether rows were found whose end other homes learn about, see tableWork.
	Changed bool `json:"changed,omitempty"`
	Done    bool `json:"done,omitempty"`
}

// run is a pass that this server works on.
type run struct {
	*Service
	pass pass

	mu      sync.Mutex // guards the rest
	erasure *lifecycle.Erasure
	homes   map[region.Code]progress
	lost    bool  // another server has taken over
	failed  int64 // attempts of the erasure before this one
}

func (s *Service) newRun(e *lifecycle.Erasure) (*run, error) {
	r := &run{Service: s, pass: s.pass(*e), erasure: e, failed: e.Attempts}
	err := json.Unmarshal(e.Homes, &r.homes)
	return r, err
}

// advance takes the remaining steps in one home, if they are due.
func (r *run) advance(ctx context.Context, home region.Code) error {
	r.mu.Lock()
	p := r.homes[home]
	r.mu.Unlock()
	if p.Done || p.DueAt.After(r.Now()) {
		return nil
	}
	current := &lifecycle.Progress{Step: p.Step, Position: p.Position, Attempts: p.Attempts}
	save := func(ctx context.Context) error {
		p.Step, p.Position, p.Attempts, p.DueAt = current.Step, current.Position, current.Attempts, current.DueAt
		return r.saveHome(ctx, home, p)
	}
	job := &steps.Job{
		Progress: current, Now: r.Now, Save: save, Count: func(string, int32) {},
		Steps: r.steps(home, &p),
		Finish: func(ctx context.Context) error {
			p.Done = true
			return save(ctx)
		},
	}
	return job.Advance(ctx)
}

// saveHome stores the progress of one home, and keeps other servers from the erasure while this one works on any home.
func (r *run) saveHome(ctx context.Context, home region.Code, p progress) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.homes == nil {
		r.homes = map[region.Code]progress{}
	}
	r.homes[home] = p
	r.erasure.DueAt = r.Now().Add(steps.Lease)
	return r.save(ctx)
}

// keep renews the lease once a quarter of it has passed, so that a page can take longer than the lease.
func (r *run) keep(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Now()
	if r.erasure.DueAt.Sub(now) > steps.Lease*3/4 {
		return nil
	}
	r.erasure.DueAt = now.Add(steps.Lease)
	return r.save(ctx)
}

// save stores the erasure. The caller holds the lock.
func (r *run) save(ctx context.Context) (err error) {
	e := r.erasure
	if e.Homes, err = json.Marshal(r.homes); err != nil {
		return err
	}
	tx := r.Store.NewTx(r.HomeOf(e.ID))
	tx.UpdateErasure(*e, r.Now())
	err = tx.Commit(ctx)
	r.lost = r.lost || errors.Is(err, core.ErrConflict)
	if err == nil {
		e.Version++
	}
	return err
}

// count adds numbers of rows by kind.
func (r *run) count(rows map[string]int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for kind, n := range rows {
		r.erasure.Erased = steps.AddCount(r.erasure.Erased, kind, n)
	}
}

// end finishes the pass, or makes it due when the first of the postponed homes is.
func (r *run) end(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost || ctx.Err() != nil {
		return nil // another server continues, at once or when the lease has ended
	}
	e := r.erasure
	var open []string
	e.Attempts, e.DueAt = 0, time.Time{}
	for _, home := range region.All() {
		p := r.homes[home]
		if p.Done {
			continue
		}
		open = append(open, cmp.Or(p.Step, r.steps(home, &p)[0].Name()))
		e.Attempts = max(e.Attempts, p.Attempts)
		if e.DueAt.IsZero() || p.DueAt.Before(e.DueAt) {
			e.DueAt = p.DueAt
		}
	}
	e.Step = strings.Join(open, ", ")
	if len(open) == 0 {
		return r.finishPass(ctx)
	}
	return r.save(ctx)
}

// finishPass begins the second pass after the first one, or ends the erasure. It postpones either while an outbox contains
// something about the user. The second pass is repeated if it had to end what other homes have copies of, because these may have
// been changed after the pass was there.
func (r *run) finishPass(ctx context.Context) error {
	first := r.erasure.State == lifecycle.ErasureRunning
	follow := first && r.awaitServers(ctx) // before the outboxes are read: what was in progress may have written to them
	waiting, err := r.outboxRows(ctx, r.erasure.ID)
	changed := slices.ContainsFunc(slices.Collect(maps.Values(r.homes)), func(p progress) bool { return p.Changed })
	if err == nil && waiting == 0 && !first && !changed {
		err = r.publish(ctx, lifecycle.RouteErased)
	}
	e, now := r.erasure, r.Now()
	switch {
	case err != nil: // a home is away: other erasures must not wait for it
		e.Attempts = r.failed + 1
		e.DueAt = now.Add(steps.Backoff(e.Attempts))
		return errors.Join(err, r.save(ctx))
	case waiting > 0:
		e.DueAt = now.Add(pollInterval)
	case first:
		e.State, e.DueAt, r.homes = lifecycle.ErasureVerifying, now, map[region.Code]progress{}
		if !follow {
			e.DueAt = now.Add(settleTime)
		}
	case changed:
		e.DueAt, r.homes = now, map[region.Code]progress{}
	default:
		e.State, e.PublicID, e.FinishedAt, r.homes = lifecycle.ErasureDone, "", &now, map[region.Code]progress{}
		r.Log.InfoContext(ctx, "user erased", "erasure", e.ID)
	}
	return r.save(ctx)
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
