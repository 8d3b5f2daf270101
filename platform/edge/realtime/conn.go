package realtime

import (
	"sync"

	"github.com/plaza-social/plaza/platform/region"
)

// Reasons for which the server ends a stream, as sent in its last event.
const (
	endShutdown    = "shutdown"
	endSlow        = "slow"
	endToken       = "tokenExpired"
	endSession     = "sessionEnded"
	endMoved       = "userMoved"
	endUnavailable = "unavailable"
)

// conn is a stream or a connection by MQTT, which ends with its session.
type conn struct {
	home       region.Code
	userID     string
	sessionID  string
	admin      bool
	awaitsLast bool // it receives the last event about its user before it ends with the session
	notify     chan struct{}
	ending     chan struct{}       // closed by end
	ended      func(reason string) // ends a connection by MQTT, which has no queue here; nil for streams
	over       over                // used by the checks of sessions only

	mu     sync.Mutex
	reason string
}

func newConn() *conn { return &conn{notify: make(chan struct{}, 1), ending: make(chan struct{})} }

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
