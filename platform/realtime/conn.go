package realtime

import (
	"sync"

	"github.com/plaza-social/plaza/platform/region"
)

// frame is an encoded event.
type frame struct {
	seq  int64
	text []byte
}

// Reasons for which the server ends a stream, as sent in its last event.
const (
	endShutdown    = "shutdown"
	endSlow        = "slow"
	endToken       = "tokenExpired"
	endSession     = "sessionEnded"
	endMoved       = "userMoved"
	endUnavailable = "unavailable"
)

// conn is one stream. Its queue holds the frames its client has not received. When the queue is full, nothing more is
// added and the stream ends after sending it, so that the client can resume without losing events.
type conn struct {
	name      string // of its events
	home      region.Code
	userID    string
	sessionID string
	admin     bool
	from      int64 // the stream has read events up to this number itself
	limit     int
	notify    chan struct{}
	ending    chan struct{}       // closed by end
	ended     func(reason string) // ends a connection by MQTT, which has no queue here; nil for streams
	over      over                // used by the checks of sessions only

	mu     sync.Mutex
	queue  []frame
	seen   int64 // events up to this number were delivered, those for this client into the queue
	reason string
}

func newConn(name string, home region.Code, limit int) *conn {
	return &conn{name: name, home: home, limit: limit, notify: make(chan struct{}, 1), ending: make(chan struct{})}
}

// push adds an event, unless the stream is ending or already has it: a batch that failed halfway is delivered again.
func (c *conn) push(f frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.seq <= c.from || c.reason != "" {
		return
	}
	if len(c.queue) >= c.limit {
		c.reason = endSlow
	} else {
		c.queue = append(c.queue, f)
		c.from, c.seen = f.seq, f.seq // events come in order
	}
	c.signal()
}

// advance records that all events up to seq were delivered.
func (c *conn) advance(seq int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason == "" {
		c.seen = max(c.seen, seq)
	}
}

// end ends the stream after its queue is sent. The first reason is kept.
func (c *conn) end(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason == "" {
		c.reason = reason
		close(c.ending)
		if c.ended != nil {
			go c.ended(reason)
		}
	}
	c.signal()
}

func (c *conn) signal() {
	select {
	case c.notify <- struct{}{}:
	default:
	}
}

// take empties the queue. After receiving the frames, the client has all its events up to seen. A non-empty reason
// means that the stream ends after them.
func (c *conn) take() (frames []frame, seen int64, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	frames, c.queue = c.queue, nil
	return frames, c.seen, c.reason
}
