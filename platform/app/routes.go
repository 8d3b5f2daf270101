package app

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/plaza-social/plaza/platform/store"
)

const (
	// routesEvery is the interval at which the server reads where moved users are, and routesRetry the one before it knows.
	routesEvery = time.Second
	routesRetry = 100 * time.Millisecond
)

// movePace are the times of WithMovePace; the usual ones when zero.
type movePace struct{ every, settle time.Duration }

// routes follows where the rows of moved users are. The server serves nothing before it knows.
type routes struct {
	reader *store.RouteReader
	every  time.Duration
	known  atomic.Bool
}

var errRoutesUnknown = errors.New("the homes of moved users are not known yet")

// check returns nil if the routes were read once.
func (r *routes) check(context.Context) error {
	if r.known.Load() {
		return nil
	}
	return errRoutesUnknown
}

// run reads the routes until ctx is done. While no home answers, the store refuses statements, see db.Routes.
func (r *routes) run(ctx context.Context) error {
	for {
		interval := r.every
		if err := r.reader.Read(ctx); err == nil {
			r.known.Store(true)
		} else if !r.known.Load() {
			interval = routesRetry
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(interval):
		}
	}
}

// moveSettle returns how long the move of a user waits until every server knows a state and statements that were sent
// before have ended: those of a server that does not know it end before its lease, and take a statement timeout and the
// database's grace.
func (d *dependencies) moveSettle() time.Duration {
	return cmp.Or(d.pace.settle, d.limits.MoveLease+routesEvery+d.cfg.StatementTimeout.Std()+2*time.Second)
}
