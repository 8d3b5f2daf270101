package events

import (
	"sync"
	"time"
)

const (
	// pollSlack is how long before the last poll a row may have been due that is committed after it: its time is that of the request,
	// by the clock of another server.
	pollSlack = time.Minute
	// fullPoll is how many polls there are for one that reads all due rows, among them those that were left by a server that failed.
	fullPoll = 40
)

// polling is where the polls of a lane begin to read. On CockroachDB, a poll from the beginning passes over all rows that were deleted
// in the last ten minutes. The zero value reads from the beginning.
type polling struct {
	mu   sync.Mutex
	n    int       // polls since the last one that read all rows
	last time.Time // of the last poll that left nothing; zero if the next one must read all rows
}

// after returns the time after which the rows of the next poll became due.
func (p *polling) after() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.IsZero() {
		return time.Time{}
	}
	return p.last.Add(-pollSlack)
}

// ended records that a poll at a time has ended, and whether it left no due row.
func (p *polling) ended(at time.Time, nothingLeft bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	if !nothingLeft || p.n == fullPoll {
		p.n, p.last = 0, time.Time{}
		return
	}
	p.last = at
}
