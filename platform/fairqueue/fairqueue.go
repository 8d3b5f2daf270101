// Package fairqueue shares a limited number of slots, such as database connections, fairly between users.
//
// While slots are free, everyone gets one at once. Otherwise the next slot goes to the waiting user who holds the fewest,
// and among those to the one who has used slots for the shortest time: start-time fair queueing, in which the cost of a
// use is its duration. A user with few requests thereby waits for no more than one slot to become free, however many
// requests others send.
package fairqueue

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

type userKey struct{}

// WithUser returns a context whose slots count as those of a user. The empty user is everything that has none, such as
// background jobs.
func WithUser(ctx context.Context, user string) context.Context {
	return context.WithValue(ctx, userKey{}, user)
}

// userOf returns the user of a context.
func userOf(ctx context.Context) string {
	user, _ := ctx.Value(userKey{}).(string)
	return user
}

// Queue hands out slots. It is safe for concurrent use.
type Queue struct {
	now func() time.Time

	mu      sync.Mutex
	free    int
	virtual time.Duration // the start tag of the last use that had to wait, or would have
	users   map[string]*account
	waiting []*account // accounts with waiting uses
	waited  uint64     // uses that did not get a slot at once
}

// Stats are the uses that wait now, and the number of those that had to wait since the queue was created.
type Stats struct {
	Waiting int
	Waited  uint64
}

// Stats returns the present statistics.
func (q *Queue) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := Stats{Waited: q.waited}
	for _, a := range q.waiting {
		s.Waiting += len(a.tickets)
	}
	return s
}

// account is a user who holds a slot, waits for one or held one recently.
type account struct {
	user    string
	held    int
	finish  time.Duration // virtual time at which the uses so far end
	tickets []*ticket
}

// ticket is a waiting use.
type ticket struct{ admitted chan struct{} }

// New returns a queue with a number of slots, which must be positive.
func New(slots int) *Queue {
	return &Queue{now: time.Now, free: slots, users: map[string]*account{}}
}

// Acquire waits for a slot for the user of ctx. The caller must call release exactly once when the use ends.
func (q *Queue) Acquire(ctx context.Context) (release func(), err error) {
	a, t := q.enter(userOf(ctx))
	if t != nil {
		select {
		case <-t.admitted:
		case <-ctx.Done():
			q.leave(a, t)
			return nil, ctx.Err()
		}
	}
	began := q.now()
	return func() { q.release(a, q.now().Sub(began)) }, nil
}

// enter takes a free slot, or returns the ticket with which the user waits.
func (q *Queue) enter(user string) (*account, *ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	a := q.users[user]
	if a == nil {
		a = &account{user: user, finish: q.virtual}
		q.users[user] = a
	}
	if q.free > 0 {
		q.admit(a)
		return a, nil
	}
	q.waited++
	t := &ticket{make(chan struct{})}
	if len(a.tickets) == 0 {
		q.waiting = append(q.waiting, a)
	}
	a.tickets = append(a.tickets, t)
	return a, t
}

// admit gives a free slot to a user.
func (q *Queue) admit(a *account) {
	q.free--
	a.held++
	a.finish = max(a.finish, q.virtual)
	q.virtual = a.finish
}

// leave removes a use that was given up.
func (q *Queue) leave(a *account, t *ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(a.tickets, t); i >= 0 {
		a.tickets = slices.Delete(a.tickets, i, i+1)
		q.stopWaiting(a)
		q.forget(a)
		return
	}
	q.end(a, 0) // it was admitted at the same time
}

func (q *Queue) release(a *account, used time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.end(a, used)
}

// end takes a slot back and gives it to the next user.
func (q *Queue) end(a *account, used time.Duration) {
	q.free++
	a.held--
	a.finish += used
	if next := q.next(); next != nil {
		t := next.tickets[0]
		next.tickets = next.tickets[1:]
		q.stopWaiting(next)
		q.admit(next)
		close(t.admitted)
	}
	q.forget(a)
}

// next returns the waiting account whose turn it is, nil if none waits.
func (q *Queue) next() *account {
	if len(q.waiting) == 0 {
		return nil
	}
	return slices.MinFunc(q.waiting, func(a, b *account) int {
		return cmp.Or(cmp.Compare(a.held, b.held), cmp.Compare(a.finish, b.finish))
	})
}

// stopWaiting removes an account without tickets from those that wait.
func (q *Queue) stopWaiting(a *account) {
	if len(a.tickets) == 0 {
		q.waiting = slices.DeleteFunc(q.waiting, func(w *account) bool { return w == a })
	}
}

// maxUsers limits the accounts, of which those without a use are forgotten first.
const maxUsers = 10_000

// forget removes an account that no longer has a use. One that has used slots for longer than others is remembered.
func (q *Queue) forget(a *account) {
	if a.idle() && a.finish <= q.virtual {
		delete(q.users, a.user)
	}
	if len(q.users) > maxUsers {
		maps.DeleteFunc(q.users, func(_ string, a *account) bool { return a.idle() })
	}
}

func (a *account) idle() bool { return a.held == 0 && len(a.tickets) == 0 }
