package realtime

import (
	"sync"

	"github.com/plaza-social/plaza/platform/region"
)

// frame is an event as it goes over the wire.
type frame struct {
	seq  int64
	text []byte
}

// Reasons for which the server ends a stream; the last event of it says which.
const (
	endShutdown = "shutdown"
	endSlow     = "slow"
	endToken    = "tokenExpired"
	endSession  = "sessionEnded"
)

// conn is one stream. Its queue is all that waits for its client: when that is full nothing more is added, and the stream
// ends after what it holds, so that the client resumes with what it missed.
type conn struct {
	name      string // of the events
	home      region.Code
	userID    string
	sessionID string
	admin     bool
	from      int64 // events up to this number the stream has read for itself
	limit     int
	notify    chan struct{}

	mu     sync.Mutex
	queue  []frame
	seen   int64 // everything up to this number was handed out, and went into the queue where it is for this client
	reason string
}

func newConn(name string, home region.Code, limit int) *conn {
	return &conn{name: name, home: home, limit: limit, notify: make(chan struct{}, 1)}
}

// push adds an event, unless the stream is about to end or has it already: a batch that failed halfway is told again.
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
	c.tell()
}

// advance notes that every event up to seq was handed out.
func (c *conn) advance(seq int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason == "" {
		c.seen = max(c.seen, seq)
	}
}

// end ends the stream after what is in its queue. The first reason counts.
func (c *conn) end(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason == "" {
		c.reason = reason
	}
	c.tell()
}

func (c *conn) tell() {
	select {
	case c.notify <- struct{}{}:
	default:
	}
}

// take empties the queue. seen is the number up to which the client knows everything once it has these frames, and reason
// says why the stream ends after them, if it does.
func (c *conn) take() (frames []frame, seen int64, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	frames, c.queue = c.queue, nil
	return frames, c.seen, c.reason
}
