package realtime

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/store/eventlog"
)

// over is the state of a stream or connection whose session has ended. It stays open until its client has received the last event about
// its user, such as the one about the ban that ended the session, but no longer than Limits.LastEvent.
type over struct {
	since time.Time // zero while the session is valid
	// logged is true once all events about the user are in the log, up to the number last.
	logged bool
	last   int64
}

// endOver ends connections whose sessions have ended and whose clients have received the last event. A client has at least the time
// from one check to the next to read it.
func (t *tail) endOver(ctx context.Context, conns []*conn) {
	if len(conns) == 0 {
		return
	}
	pending, head, err := t.lastEvents(ctx, conns)
	if err != nil {
		t.logError(ctx, err)
		return
	}
	now, delivered := time.Now(), t.deliveredUpTo()
	for _, c := range conns {
		if c.over.since.IsZero() {
			c.over.since = now
		}
		switch {
		case now.Sub(c.over.since) > t.hub.limits().LastEvent:
			c.end(endSession)
		case c.over.logged:
			if delivered >= c.over.last {
				c.end(endSession)
			}
		case !pending[c.userID]:
			c.over.logged, c.over.last = true, head
		}
	}
}

// lastEvents returns the users about whom events are still in the outbox, and the number of the last event in the log.
func (t *tail) lastEvents(ctx context.Context, conns []*conn) (pending map[string]bool, head int64, err error) {
	users := make([]string, len(conns))
	for i, c := range conns {
		users[i] = c.userID
	}
	slices.Sort(users)
	rows, err := t.hub.Store.OutboxRowsOfKeys(ctx, t.home, slices.Compact(users), 1) // a user may have several connections
	if err != nil {
		return nil, 0, err
	}
	pending = map[string]bool{}
	for user := range rows {
		pending[user] = true
	}
	var log eventlog.EventHead // read after the outbox: what has left the outbox is in the log
	reads := t.hub.Store.NewReadBatch()
	reads.EventHead(t.home, &log)
	err = reads.Run(ctx)
	return pending, log.Last, err
}
