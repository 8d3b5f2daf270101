package realtime

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/eventlog"
)

const (
	// pollEvery is the interval at which a log is polled for events written by other servers.
	pollEvery = 250 * time.Millisecond
	// pollLimit is the maximum number of events read by one poll.
	pollLimit = 500
)

// tail delivers the log of a home to all streams and MQTT connections. It does not poll while there are none.
type tail struct {
	hub      *Hub
	home     region.Code
	wake     chan struct{}
	mu       sync.Mutex
	attached map[*conn]struct{} // streams and MQTT connections of users of this home
	reading  bool               // last is set
	last     int64              // events up to this number were delivered, or are being delivered
	done     int64              // events up to this number were delivered
}

func newTail(h *Hub, home region.Code) *tail {
	return &tail{hub: h, home: home, wake: make(chan struct{}, 1), attached: map[*conn]struct{}{}}
}

// nudge makes the tail poll immediately.
func (t *tail) nudge() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// attach adds a stream or connection, so that its session is watched.
func (t *tail) attach(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.attached[c] = struct{}{}
}

func (t *tail) detach(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.attached, c)
}

// admit makes a stream receive the events after the last one that was delivered, whose number it returns, or those after at
// if that is later. known is false while the tail waits for its home.
func (t *tail) admit(w *watch, at int64) (last int64, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reading {
		w.join(t.home, max(t.last, at))
	}
	return t.last, t.reading
}

// open returns the current streams and connections.
func (t *tail) open() []*conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.attached))
}

// position sets where the tail begins to read, unless it is reading: at the end of the log.
func (t *tail) position(ctx context.Context) error {
	if t.isReading() {
		return nil
	}
	var head eventlog.EventHead
	reads := t.hub.Store.NewReadBatch()
	reads.EventHead(t.home, &head)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.reading {
		t.last, t.done, t.reading = head.Last, head.Last, true
	}
	return nil
}

// deliveredUpTo returns the number up to which all events were delivered.
func (t *tail) deliveredUpTo() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done
}

func (t *tail) isReading() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reading
}

// begin returns where to read, or idle if there is nothing to deliver to.
func (t *tail) begin() (last int64, reading, idle bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	idle = t.hub.broker.count.Load() == 0
	t.reading = t.reading && !idle
	return t.last, t.reading, idle
}

// run polls the log at each interval and when nudged.
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
			more = t.poll(ctx)
		}
	}
}

// poll delivers new events and reports whether there may be more.
func (t *tail) poll(ctx context.Context) (more bool) {
	last, reading, idle := t.begin()
	if idle {
		return false
	}
	if !reading {
		if err := t.position(ctx); err != nil {
			t.logError(ctx, err)
		}
		return false
	}
	var found []eventlog.LoggedEvent
	reads := t.hub.Store.NewReadBatch()
	reads.Events(eventlog.EventSpan{Home: t.home, After: last, To: math.MaxInt64, Limit: pollLimit}, &found)
	if err := reads.Run(ctx); err != nil {
		t.logError(ctx, err)
		return false
	}
	if len(found) == 0 {
		return false
	}
	// Streams that join from now on read these events themselves.
	t.mu.Lock()
	t.last = found[len(found)-1].Seq
	t.mu.Unlock()
	t.deliver(ctx, found)
	t.mu.Lock()
	t.done = max(t.done, found[len(found)-1].Seq)
	t.mu.Unlock()
	return len(found) == pollLimit
}

// deliver delivers events to the streams and connections that they concern. It retries until it succeeds, because
// skipped events would be lost.
func (t *tail) deliver(ctx context.Context, found []eventlog.LoggedEvent) {
	for _, e := range found {
		t.retry(ctx, func() error { return t.hub.broker.deliver(ctx, t.home, e) })
	}
	t.hub.broker.advance(t.home, found[len(found)-1].Seq)
}

// retry calls deliver until it succeeds or ctx is done.
func (t *tail) retry(ctx context.Context, deliver func() error) {
	for {
		err := deliver()
		if err == nil || ctx.Err() != nil {
			return
		}
		t.logError(ctx, err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollEvery):
		}
	}
}

func (t *tail) logError(ctx context.Context, err error) {
	if ctx.Err() == nil {
		t.hub.Log.WarnContext(ctx, "event log not readable", "home", t.home, "error", err)
	}
}

const (
	// watchEvery is the interval at which the sessions of streams are checked.
	watchEvery = 2 * time.Second
	// watchLimit is the maximum number of sessions checked per query.
	watchLimit = 1000
)

// watchSessions ends streams whose sessions have ended, for whatever reason.
func (t *tail) watchSessions(ctx context.Context) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for conns := range slices.Chunk(t.open(), watchLimit) {
			t.checkSessions(ctx, conns)
		}
	}
}

// endsWithMove ends the stream of a user who has moved to another home; the client continues with the log of that home. It
// reports whether the user has moved or is moving, so that the sessions are not at this home.
func (t *tail) endsWithMove(c *conn) bool {
	if c.admin {
		return false
	}
	if t.hub.HomeOf(c.userID) != c.home {
		c.end(endMoved)
		return true
	}
	return t.hub.Store.Routes().InTransit(c.userID)
}

// checkSessions checks the sessions of conns with one query. If the home does not respond, no stream is ended.
func (t *tail) checkSessions(ctx context.Context, conns []*conn) {
	var userIDs, sessionIDs, live []string
	conns = slices.DeleteFunc(conns, t.endsWithMove)
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
		t.logError(ctx, err)
		return
	}
	valid := make(map[string]bool, len(live))
	for _, id := range live {
		valid[id] = true
	}
	var waiting []*conn
	for _, c := range conns {
		switch {
		case c.admin || valid[c.sessionID]:
			c.over = over{}
		case c.awaitsLast:
			waiting = append(waiting, c)
		default:
			c.end(endSession)
		}
	}
	t.endOver(ctx, waiting)
}
