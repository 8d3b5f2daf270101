package jobs

import (
	"context"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

const (
	// slack is how long before the last poll a row may have been due that is committed after it: its time is that of the request, by the
	// clock of another server.
	slack = time.Minute
	// fullPoll is how many polls there are for one that reads all due rows, among them those that were left by a server that failed.
	fullPoll = 40
)

// Position is where the polls of a queue begin to read. On CockroachDB, a poll from the beginning passes over all rows that were deleted
// or postponed in the last ten minutes. The zero value reads from the beginning.
type Position struct {
	mu   sync.Mutex
	n    int       // polls since the last one that read all rows
	last time.Time // of the last poll that left nothing; zero if the next one must read all rows
}

// After returns the time after which the rows of the next poll became due.
func (p *Position) After() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.IsZero() {
		return time.Time{}
	}
	return p.last.Add(-slack)
}

// Ended records that a poll at a time has ended, and whether it left no due row.
func (p *Position) Ended(at time.Time, nothingLeft bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	if !nothingLeft || p.n == fullPoll {
		p.n, p.last = 0, time.Time{}
		return
	}
	p.last = at
}

// Positions are the positions of the lanes of homes. The zero value is ready for use.
type Positions struct {
	mu  sync.Mutex
	all map[homeLane]*Position
}

type homeLane struct {
	home region.Code
	lane int64
}

// After returns the time after which the rows of the next poll of lanes of a home became due.
func (p *Positions) After(home region.Code, lanes []int64) time.Time {
	var earliest time.Time
	for i, lane := range lanes {
		if after := p.Of(home, lane).After(); i == 0 || after.Before(earliest) {
			earliest = after
		}
	}
	return earliest
}

// Polled returns the work of each lane of a poll at a time that has read rows, of which one lane has at most limit, and records the end
// of the poll.
func Polled[T any](p *Positions, home region.Code, at time.Time, lanes []int64, due map[int64][]T, limit int,
	work func(context.Context, []T) (worked bool, err error),
) map[int64]Work {
	all := map[int64]Work{}
	for _, lane := range lanes {
		rows, position := due[lane], p.Of(home, lane)
		if len(rows) == 0 {
			position.Ended(at, true)
			continue
		}
		all[lane] = func(ctx context.Context) (more bool, err error) {
			worked, err := work(ctx, rows)
			position.Ended(at, err == nil && len(rows) < limit)
			return worked && len(rows) >= limit, err
		}
	}
	return all
}

// Failed records that a poll of lanes of a home has failed.
func (p *Positions) Failed(home region.Code, lanes []int64) {
	for _, lane := range lanes {
		p.Of(home, lane).Ended(time.Time{}, false)
	}
}

// Of returns the position of a lane of a home.
func (p *Positions) Of(home region.Code, lane int64) *Position {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := homeLane{home, lane}
	if p.all[key] == nil {
		if p.all == nil {
			p.all = map[homeLane]*Position{}
		}
		p.all[key] = &Position{}
	}
	return p.all[key]
}
