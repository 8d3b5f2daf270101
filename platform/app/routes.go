package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/network"
)

// routesEvery is the interval at which the server reads where moved users are, and movingEvery the one while a move is not
// finished: users wait for it.
const (
	routesEvery = time.Second
	movingEvery = 50 * time.Millisecond
)

// movePace are the times of WithMovePace; the usual ones when zero.
type movePace struct{ every, settle time.Duration }

// routes follows where the rows of moved users are. The server serves nothing before it knows.
type routes struct {
	store  *store.Store
	reader *lifecycle.RouteReader
	server *announcer
	every  time.Duration
	wait   time.Duration // of a check, see limits.Limits.Check
	begin  func()        // called once they can be read
	wanted chan struct{} // closed then
	known  chan struct{} // closed when they were read
}

func newRoutes(server *announcer, every, wait time.Duration) *routes {
	r := &routes{
		store: server.store, reader: lifecycle.NewRouteReader(server.store.Store, server.local), server: server, every: every, wait: wait,
		wanted: make(chan struct{}), known: make(chan struct{}),
	}
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

// run announces the server and then reads the routes, from the first check until ctx is done: a move that does not wait for
// this server ended before. While no home answers, the store refuses statements, see db.Routes.
func (r *routes) run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-r.wanted:
	}
	_ = r.server.announce(ctx) // the announcer repeats it
	know := sync.OnceFunc(func() { close(r.known) })
	var announced []string
	for {
		if err := r.reader.Read(ctx); err == nil {
			know()
			if routes := network.FollowedRoutes(r.store.Routes().Followed()); !slices.Equal(routes, announced) {
				r.server.follow(routes)
				announced = routes
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(r.pause()):
		}
	}
}

// FollowMoves announces a process that writes as a server does, reads where moved users are, and does both again until ctx ends.
func FollowMoves(ctx context.Context, s *store.Store, process network.Server, local region.Code, log *slog.Logger) error {
	server := newAnnouncer(s, process, local, log)
	r := newRoutes(server, routesEvery, s.Limits().Check)
	if err := errors.Join(server.announce(ctx), r.reader.Read(ctx)); err != nil {
		return err
	}
	r.begin()
	go func() { _ = server.run(ctx) }()
	go func() { _ = r.run(ctx) }()
	return nil
}

// pause returns the time until the routes are read again.
func (r *routes) pause() time.Duration {
	if r.store.Routes().Unfinished() {
		return min(r.every, movingEvery)
	}
	return r.every
}

// moveSettle returns how long the move of a user waits until every server knows a state and statements that were sent
// before have ended: those of a server that does not know it end before its lease, or with a request that has committed something
// until then, and take a statement timeout and the database's grace.
func (d *dependencies) moveSettle() time.Duration {
	return cmp.Or(d.pace.settle, d.limits.MoveLease+routesEvery+db.FinishCommitted+d.cfg.StatementTimeout.Std()+2*time.Second)
}
