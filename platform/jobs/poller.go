package jobs

import (
	"context"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

// poller runs a job that has a Poll: one goroutine reads for the lanes that are idle, and each lane that has work runs in its own.
type poller struct {
	Job
	home  region.Code
	busy  map[int64]bool // lanes
	ended chan ended     // has room for all lanes
}

// ended is a lane that has done its work.
type ended struct {
	lane int64
	more bool
}

func (p *poller) run(ctx context.Context) {
	p.busy = map[int64]bool{}
	ticker := time.NewTicker(p.Every)
	defer ticker.Stop()
	var working sync.WaitGroup
	defer working.Wait()
	for ctx.Err() == nil {
		p.poll(ctx, &working)
		p.wait(ctx, ticker.C)
	}
}

// poll reads what is due in the idle lanes, and starts the work.
func (p *poller) poll(ctx context.Context, working *sync.WaitGroup) {
	var idle []int64
	for _, lane := range p.lanes() {
		if !p.busy[lane] {
			idle = append(idle, lane)
		}
	}
	if len(idle) == 0 {
		return
	}
	all, err := p.Poll(ctx, p.home, idle)
	if err != nil && ctx.Err() == nil {
		p.Log.WarnContext(ctx, "job failed", "job", p.Name, "home", p.home, "error", err)
	}
	for lane, work := range all {
		p.busy[lane] = true
		working.Go(func() {
			more, err := work(ctx)
			p.log(ctx, p.home, lane, err)
			p.ended <- ended{lane, more && err == nil}
		})
	}
}

// wait waits until the next poll: after the interval, when it is woken, or when a lane has done its work and there may be more.
func (p *poller) wait(ctx context.Context, interval <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-interval:
			return
		case <-p.Wake.of(p.home):
			return
		case e := <-p.ended:
			delete(p.busy, e.lane)
			if e.more {
				return
			}
		}
	}
}
