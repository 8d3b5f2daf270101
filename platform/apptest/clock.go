package apptest

import (
	"sync"
	"time"
)

// Clock is the clock of servers whose time a test moves. It runs like that of the machine until StopAt. The zero value shows the time of
// the machine, and so does nil.
type Clock struct {
	mu      sync.Mutex
	ahead   time.Duration // of the clock of the machine, while it runs
	stopped time.Time     // where it stands; zero while it runs
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	if c == nil {
		return time.Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped.IsZero() {
		return c.stopped
	}
	return time.Now().Add(c.ahead)
}

// StopAt makes the clock stand at a time.
func (c *Clock) StopAt(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = at
}

// Stop makes the clock stand at the current time, in the precision of the API, which it returns.
func (c *Clock) Stop() time.Time {
	at := c.Now().UTC().Truncate(time.Millisecond)
	c.StopAt(at)
	return at
}

// Start makes the clock run on from where it stands.
func (c *Clock) Start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped.IsZero() {
		c.ahead, c.stopped = time.Until(c.stopped), time.Time{}
	}
}
