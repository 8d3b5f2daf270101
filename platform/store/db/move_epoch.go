package db

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// epoch is the time between two changes of routes, with the statements in progress that were checked against the routes of
// that time, and the requests in progress that began in it.
type epoch struct {
	number     uint64
	inProgress atomic.Int64
	requests   atomic.Int64
}

// enter begins statements, which are checked against the routes afterwards. Call leave of the result when they have ended.
func (r *Routes) enter() *epoch {
	for {
		e := r.epoch.Load()
		e.inProgress.Add(1)
		if r.epoch.Load() == e {
			return e
		}
		e.leave() // the epoch may count as ended
	}
}

func (e *epoch) leave() { e.inProgress.Add(-1) }

// BeginRequest begins a request, or work of a job, that an erasure waits for if it begins afterwards. end must be called once.
func (r *Routes) BeginRequest() (end func()) {
	for {
		e := r.epoch.Load()
		e.requests.Add(1)
		if r.epoch.Load() == e {
			return func() { e.requests.Add(-1) }
		}
		e.requests.Add(-1) // the epoch may count as ended
	}
}

// holds reports whether anything that began in e keeps the server from following a route.
func (e *epoch) holds(route *Route) bool {
	return e.number < route.epoch && (e.inProgress.Load() > 0 || route.State == RouteErasing && e.requests.Load() > 0)
}

// abandonedGrace is how long the database may take to end a statement after its time limit.
const abandonedGrace = 2 * time.Second

// leaveAfter is leave for statements of a transaction. Without an answer of the database they count as in progress until its time
// limit of statements has ended them.
func (d *DB) leaveAfter(ctx context.Context, e *epoch, err error) {
	if err != nil && (ctx.Err() != nil || unreachable(err) || connectionLost(err)) {
		time.AfterFunc(d.timeout+abandonedGrace, e.leave)
		return
	}
	e.leave()
}

// epochNumber returns the number of the epoch; 0 without routes.
func (r *Routes) epochNumber() uint64 {
	if r == nil {
		return 0
	}
	return r.epoch.Load().number
}

// begin begins an epoch. The caller holds r.mu.
func (r *Routes) begin(next *epoch) { r.earlier = append(r.earlier, r.epoch.Swap(next)) }

// Followed are versions of the routes of users whose moves are not finished.
type Followed map[string]int64

// Followed returns the routes of unfinished moves that no statement in progress was sent without: all others have ended. For an
// erasure the requests have ended, too.
func (r *Routes) Followed() Followed {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.earlier = slices.DeleteFunc(r.earlier, func(e *epoch) bool { return e.inProgress.Load() == 0 && e.requests.Load() == 0 })
	all := Followed{}
	for userID, route := range r.unfinished {
		if !slices.ContainsFunc(r.earlier, func(e *epoch) bool { return e.holds(route) }) {
			all[userID] = route.Version
		}
	}
	return all
}

// Unfinished reports whether any move is not finished.
func (r *Routes) Unfinished() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.unfinished) > 0
}

// Writable reports whether the rows of a user can be written. If not, changed is closed when that may have changed.
func (r *Routes) Writable(userID string) (ok bool, changed <-chan struct{}) {
	if r.held.Load() == 0 {
		return true, nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	route := r.users[userID]
	return route == nil || !route.refuses(), r.changed
}

// FinishCommitted is how long an attempt of a request that has committed a transaction sends statements about users who began to
// move afterwards. The server follows these moves once the attempt has ended, so that it ends as if they began later.
const FinishCommitted = 3 * time.Second

// attempt is one attempt of a request.
type attempt struct {
	since uint64 // the epoch in which it began

	mu        sync.Mutex
	committed bool
	ended     bool   // work that continues without the request looks up homes itself
	first     *epoch // of the first transaction that was committed; it does not end before the attempt
	until     time.Time
}

type attemptKey struct{}

// WithAttempt returns a context for an attempt of a request: statements fail with a MovingError if the rows that they concern
// have come to another home since it began. end ends the attempt, and reports whether a transaction was committed, or may have been,
// that another attempt would repeat.
func (d *DB) WithAttempt(ctx context.Context) (with context.Context, end func() (committed bool)) {
	a := &attempt{since: d.routes.epochNumber()}
	return context.WithValue(ctx, attemptKey{}, a), a.end
}

func (a *attempt) end() (committed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.first != nil && !a.ended {
		a.first.leave()
	}
	a.ended = true
	return a.committed
}

// finish makes e last until the attempt ends, if it has committed its first transaction in e.
func (a *attempt) finish(e *epoch, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.first == nil && !a.ended {
		a.first, a.until = e, until
		e.inProgress.Add(1)
	}
}

func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// sentIn is when a statement is sent.
type sentIn struct {
	// since is the epoch in which its home was looked up at the earliest.
	since uint64
	// until is the last epoch whose routes apply to it.
	until uint64
}

// sentIn returns when a statement is sent whose batch or transaction began in an epoch.
func (r *Routes) sentIn(ctx context.Context, began uint64) sentIn {
	s := sentIn{began, math.MaxUint64}
	a := attemptOf(ctx)
	if a == nil {
		return s
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return s
	}
	if a.first != nil && r.now().Before(a.until) {
		s.until = a.first.number
	}
	s.since = min(a.since, began)
	return s
}

// noteCommit records that a transaction was committed or may have been.
func (t *Tx) noteCommit(ctx context.Context, refusal, err error) {
	if a := attemptOf(ctx); a != nil && !t.unrecorded && maybeStored(refusal, err) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.committed = true
	}
}

// leave ends the statements of a transaction that began in e.
func (t *Tx) leave(ctx context.Context, e *epoch, err error) {
	if a := attemptOf(ctx); a != nil && err == nil && !t.unrecorded {
		a.finish(e, t.db.routes.now().Add(FinishCommitted))
	}
	t.db.leaveAfter(ctx, e, err)
}
