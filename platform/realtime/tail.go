package realtime

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

const (
	// pollEvery is the time between two looks at a log that other servers write to.
	pollEvery = 250 * time.Millisecond
	// pollLimit bounds the events of one look.
	pollLimit = 500
)

// tail follows the log of a home for the streams of the home's users. It rests while there are none.
type tail struct {
	hub   *Hub
	home  region.Code
	wake  chan struct{}
	mu    sync.Mutex
	conns map[*conn]struct{}
	last  int64 // the number up to which events were handed out; of no meaning while there are no streams
}

func newTail(h *Hub, home region.Code) *tail {
	return &tail{hub: h, home: home, wake: make(chan struct{}, 1), conns: map[*conn]struct{}{}}
}

// nudge makes the tail look at once.
func (t *tail) nudge() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// join adds a stream that starts after the number start; head is the last number of the log as the stream just read it. It
// returns the number up to which the stream has to read for itself: what follows is handed to it.
func (t *tail) join(c *conn, start, head int64) (upTo int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.conns) == 0 {
		t.last = head
	}
	c.from = max(t.last, start)
	c.seen = c.from
	t.conns[c] = struct{}{}
	return t.last
}

func (t *tail) leave(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.conns, c)
}

// streams returns those that are there now.
func (t *tail) streams() []*conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list()
}

func (t *tail) list() []*conn {
	all := make([]*conn, 0, len(t.conns))
	for c := range t.conns {
		all = append(all, c)
	}
	return all
}

// run looks at the log whenever it may have grown.
func (t *tail) run(ctx context.Context) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-t.wake:
		}
		for more := true; more && ctx.Err() == nil; {
			more = t.look(ctx)
		}
	}
}

// look hands out what is new, and reports whether there may be more.
func (t *tail) look(ctx context.Context) (more bool) {
	t.mu.Lock()
	last, idle := t.last, len(t.conns) == 0
	t.mu.Unlock()
	if idle {
		return false
	}
	var found []store.LoggedEvent
	reads := t.hub.Store.NewReadBatch()
	reads.Events(store.EventSpan{Home: t.home, After: last, To: math.MaxInt64, Limit: pollLimit}, &found)
	if err := reads.Run(ctx); err != nil {
		t.complain(ctx, err)
		return false
	}
	if len(found) == 0 {
		return false
	}
	// Who joins from here on reads these events for themselves.
	t.mu.Lock()
	t.last = found[len(found)-1].Seq
	conns := t.list()
	t.mu.Unlock()
	t.handOut(ctx, found, conns)
	return len(found) == pollLimit
}

// handOut gives events to those of the streams that they are for. It does not give up while anybody listens: an event that
// is passed over would be lost.
func (t *tail) handOut(ctx context.Context, found []store.LoggedEvent, conns []*conn) {
	for {
		err := t.hub.tell(ctx, t.home, found, conns, func(c *conn, f frame) { c.push(f) })
		if err == nil {
			break
		}
		t.complain(ctx, err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollEvery):
		}
	}
	for _, c := range conns {
		c.advance(found[len(found)-1].Seq)
	}
}

func (t *tail) complain(ctx context.Context, err error) {
	if ctx.Err() == nil {
		t.hub.Log.WarnContext(ctx, "event log not readable", "home", t.home, "error", err)
	}
}

const (
	// watchEvery is the time between two looks at the sessions of those who listen.
	watchEvery = 2 * time.Second
	// watchLimit bounds the sessions of one look.
	watchLimit = 1000
)

// watchSessions ends streams whose sessions have ended, whoever ended them.
func (t *tail) watchSessions(ctx context.Context) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		all := t.streams()
		for len(all) > 0 {
			n := min(len(all), watchLimit)
			t.checkSessions(ctx, all[:n])
			all = all[n:]
		}
	}
}

// checkSessions asks the home at once for all of them. A home that does not answer ends nothing.
func (t *tail) checkSessions(ctx context.Context, conns []*conn) {
	var userIDs, sessionIDs, live []string
	for _, c := range conns {
		if !c.admin {
			userIDs, sessionIDs = append(userIDs, c.userID), append(sessionIDs, c.sessionID)
		}
	}
	if len(userIDs) == 0 {
		return
	}
	reads := t.hub.Store.NewReadBatch()
	reads.LiveSessions(t.home, userIDs, sessionIDs, &live)
	if err := reads.Run(ctx); err != nil {
		t.complain(ctx, err)
		return
	}
	holds := make(map[string]bool, len(live))
	for _, id := range live {
		holds[id] = true
	}
	for _, c := range conns {
		if !c.admin && !holds[c.sessionID] {
			c.end(endSession)
		}
	}
}
