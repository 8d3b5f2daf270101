package app

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/store"
)

// routesEvery is the interval at which the server reads where moved users are.
const routesEvery = time.Second

// movePace are the times of WithMovePace; the usual ones when zero.
type movePace struct{ every, settle time.Duration }

// routes follows where the rows of moved users are. The server serves nothing before it knows.
type routes struct {
	reader *store.RouteReader
	every  time.Duration
	wait   time.Duration // of a check, see limits.Limits.Check
	begin  func()        // called once they can be read
	wanted chan struct{} // closed then
	known  chan struct{} // closed when they were read
}

func newRoutes(reader *store.RouteReader, every, wait time.Duration) *routes {
	r := &routes{reader: reader, every: every, wait: wait, wanted: make(chan struct{}), known: make(chan struct{})}
	r.begin = sync.OnceFunc(func() { close(r.wanted) })
	return r
}

var errRoutesUnknown = errors.New("the homes of moved users are not known yet")

// check waits until the routes were read once, within a limit. It is called when the schema is sufficient.
func (r *routes) check(ctx context.Context) error {
	r.begin()
	ctx, cancel := context.WithTimeout(ctx, r.wait)
	defer cancel()
	select {
	case <-r.known:
		return nil
	case <-ctx.Done():
		return errRoutesUnknown
	}
}

// run reads the routes from the first check until ctx is done. While no home answers, the store refuses statements, see
// db.Routes.
func (r *routes) run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-r.wanted:
	}
	know := sync.OnceFunc(func() { close(r.known) })
	return every(ctx, r.every, func(ctx context.Context) {
		if err := r.reader.Read(ctx); err == nil {
			know()
		}
	})
}

// moveSettle returns how long the move of a user waits until every server knows a state and statements that were sent
// before have ended: those of a server that does not know it end before its lease, and take a statement timeout and the
// database's grace.
func (d *dependencies) moveSettle() time.Duration {
	return cmp.Or(d.pace.settle, d.limits.MoveLease+routesEvery+d.cfg.StatementTimeout.Std()+2*time.Second)
}
