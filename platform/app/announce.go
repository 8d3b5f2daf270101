package app

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/network"
)

const (
	// announceEvery is the interval at which a server announces itself: it may miss some before it counts as stopped.
	announceEvery = 10 * time.Second
	// announceRetry is the time after which a failed announcement is repeated: the server refuses writes until one succeeds.
	announceRetry = time.Second
)

// announcer announces the server, its capabilities and the routes that it follows to the others.
type announcer struct {
	store  *store.Store
	server network.Server
	local  region.Code
	log    *slog.Logger
	wanted chan []string // routes to announce at once
	known  atomic.Bool   // whether a home has recorded the server
	failed atomic.Bool   // whether the latest announcement failed
}

// newAnnouncer returns the announcer of a server, whose store does not write before the first announcement.
func newAnnouncer(s *store.Store, server network.Server, local region.Code, log *slog.Logger) *announcer {
	s.Routes().Announced(time.Time{})
	return &announcer{store: s, server: server, local: local, log: log, wanted: make(chan []string, 1)}
}

// run announces the server until ctx is done.
func (a *announcer) run(ctx context.Context) error {
	every := min(announceEvery, a.store.Limits().AnnounceLease/5)
	latest := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case a.server.MoveRoutes = <-a.wanted:
		case <-time.After(min(announceRetry, every)):
			if !a.failed.Load() && time.Since(latest) < every {
				continue
			}
		}
		latest = time.Now()
		_ = a.announce(ctx) // it is repeated soon
	}
}

// check returns the readiness check of the announcements. A server that becomes ready must accept writes. One that is ready stays so
// without announcements: it still reads.
func (a *announcer) check(wasReady bool) Check {
	return Check{Name: "announcement", Advisory: wasReady, Run: func(context.Context) error { return a.store.Routes().RequireAnnounced() }}
}

// follow makes run announce the routes of unfinished moves that the server follows. It must not be called concurrently.
func (a *announcer) follow(routes []string) {
	select {
	case <-a.wanted: // older than routes
	default:
	}
	a.wanted <- routes
}

// announce announces the server at the first home that answers, the local one first.
func (a *announcer) announce(ctx context.Context) error {
	began := time.Now()
	err := a.commitAny(ctx, func(tx *store.Tx) { tx.AnnounceServer(a.server) })
	a.failed.Store(err != nil)
	switch {
	case err == nil:
		a.known.Store(true)
		a.store.Routes().Announced(began)
	case ctx.Err() == nil:
		a.log.WarnContext(ctx, "no home has recorded that this server is running", "error", err)
	}
	return err
}

// commitAny commits a change at the first home that answers, the local one first.
func (a *announcer) commitAny(ctx context.Context, change func(*store.Tx)) error {
	err := a.commit(ctx, a.local, change)
	for _, home := range region.All() {
		if err == nil {
			break
		}
		if home != a.local {
			err = a.commit(ctx, home, change)
		}
	}
	return err
}

func (a *announcer) commit(ctx context.Context, home region.Code, change func(*store.Tx)) error {
	ctx, cancel := context.WithTimeout(lifecycle.WithMover(ctx), a.store.Limits().Announce)
	defer cancel()
	tx := a.store.NewTx(home)
	change(tx)
	return tx.Commit(ctx)
}

// withdrawBefore returns a function that removes the server where it usually is, and then calls end. It is called when the server
// writes no more. Rows at other homes expire.
func (a *announcer) withdrawBefore(end func()) func() {
	return func() {
		defer end()
		if !a.known.Load() {
			return
		}
		ctx := context.Background()
		err := a.commit(ctx, a.local, func(tx *store.Tx) { tx.WithdrawServer(a.server.ID) })
		if err != nil {
			a.log.DebugContext(ctx, "the server counts as running for another minute", "error", err)
		}
	}
}
