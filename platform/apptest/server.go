package apptest

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/app"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// server is a region's server that runs, or ran until Stop.
type server struct {
	*app.Region

	stop func() // returns when the server has stopped
}

// Region returns the server of one region. The first call starts it and waits until it is ready.
func (n *Network) Region(code region.Code) *app.Region {
	n.t.Helper()
	if s, ok := n.server(code); ok {
		return s.Region
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	s, ok := n.servers[code]
	if !ok {
		s = n.serve(n.t, code)
		n.servers[code] = s
		s.awaitReady(n.t)
	}
	return s.Region
}

// server returns the server of a region if it has been started.
func (n *Network) server(code region.Code) (server, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	s, ok := n.servers[code]
	return s, ok
}

// StartAll starts the servers of the regions that have not been used, and waits until every region is ready.
func (n *Network) StartAll(t testing.TB) {
	t.Helper()
	for _, code := range region.All() {
		n.Region(code)
	}
	n.AwaitReady(t)
}

// AwaitReady waits until the server of every region that was used is ready.
func (n *Network) AwaitReady(t testing.TB) {
	t.Helper()
	for _, code := range region.All() {
		if s, ok := n.server(code); ok {
			s.awaitReady(t)
		}
	}
}

// Stop stops the server of a region, which then does not respond until Restart. It starts one first if there is none, so
// that the region has an address.
func (n *Network) Stop(code region.Code) {
	n.Region(code)
	s, _ := n.server(code)
	s.stop()
}

// Restart stops the server of a region and starts another one at another address.
func (n *Network) Restart(t testing.TB, code region.Code) {
	t.Helper()
	n.Stop(code)
	n.replace(t, code)
	n.AwaitReady(t)
}

// UseDatabase stops the servers of all regions and starts them again with another database.
func (n *Network) UseDatabase(t testing.TB, url string) {
	t.Helper()
	for _, code := range region.All() {
		n.Stop(code)
	}
	n.DatabaseURL = url
	for _, code := range region.All() {
		n.replace(t, code)
	}
	n.AwaitReady(t)
}

// replace starts a server in place of one that has stopped.
func (n *Network) replace(t testing.TB, code region.Code) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.servers[code] = n.serve(t, code)
}

// serve runs a server of a region until it is stopped or the network ends.
func (n *Network) serve(t testing.TB, code region.Code) server {
	t.Helper()
	ctx, stop := context.WithCancel(n.t.Context())
	r, err := app.New(ctx, n.config(code, n.options), n.options.log, app.WithStoreFault(n.options.fault), app.WithLogLevel(new(slog.LevelVar)),
		app.WithSentTransactions(n.sent), app.WithRefusedTransactions(n.options.refused),
		app.WithMovePace(movesRead, movesSettle), app.WithTimeLimits(n.options.limits()), app.WithClock(n.options.clock.Now))
	if err != nil {
		stop()
	}
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err = r.Run(ctx)
	}()
	return server{Region: r, stop: sync.OnceFunc(func() {
		stop()
		<-ended
		if err := n.locks.failure(); err != nil {
			n.t.Errorf("the order of locks of SharedTable in package db: %v", err)
		}
		require.NoError(n.t, err)
	})}
}

// sent is called before each transaction of the network is sent.
func (n *Network) sent(sent []db.Queued) {
	n.locks.check(sent)
	if n.options.sent != nil {
		n.options.sent(sent)
	}
}

// stopAtEnd stops the server of a region, if it has been used, when the network ends.
func (n *Network) stopAtEnd(code region.Code) {
	n.t.Cleanup(func() {
		if s, ok := n.server(code); ok {
			s.stop()
		}
	})
}

func (s server) awaitReady(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	for {
		state := s.Ready(ctx)
		if state.Ready {
			return
		}
		require.NoError(t, ctx.Err(), "region %s: %s", s.Code(), state)
		pause(ctx, 5*time.Millisecond)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
