package store_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/faults/proxy"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// lostHome is a store whose eu rows are cut off, and that looks for their return when a test says so.
type lostHome struct {
	*store.Store
	*proxy.Proxy
	t       *testing.T
	look    chan time.Time
	pauses  atomic.Int64 // between looks, so far
	metrics *prometheus.Registry
}

func newLostHome(t *testing.T) *lostHome {
	t.Helper()
	l := &lostHome{t: t, look: make(chan time.Time), metrics: prometheus.NewRegistry()}
	l.Store, l.Proxy = cutOff(t, func(c *store.Config) { c.Registry = l.metrics })
	l.SetPause(func(time.Duration) <-chan time.Time {
		l.pauses.Add(1)
		return l.look
	})
	require.NoError(t, l.ask())
	l.Cut()
	return l
}

func (l *lostHome) ask() error { return ask(l.t.Context(), l.NewReadBatch(), region.EU) }

// write runs a transaction that cannot run again.
func (l *lostHome) write() error {
	w := l.NewTx(region.EU)
	w.BanUser(region.NewID(region.EU), true, now, new(*store.User))
	return w.Commit(l.t.Context())
}

// lookAgain has the store look whether the home is back.
func (l *lostHome) lookAgain() {
	l.t.Helper()
	select {
	case l.look <- now:
	case <-time.After(time.Minute):
		require.Fail(l.t, "nobody watches")
	}
}

// lookInVain is lookAgain, and waits until the look is over.
func (l *lostHome) lookInVain() {
	l.t.Helper()
	before := l.pauses.Load()
	l.lookAgain()
	require.Eventually(l.t, func() bool { return l.pauses.Load() > before }, time.Minute, time.Millisecond)
}

// trips returns how often callers asked eu.
func (l *lostHome) trips() int {
	l.t.Helper()
	families, err := l.metrics.Gather()
	require.NoError(l.t, err)
	for _, f := range families {
		if f.GetName() == "plaza_database_round_trips_total" {
			return int(f.GetMetric()[0].GetCounter().GetValue())
		}
	}
	return 0
}

// refusedAtOnce fails unless f is answered without asking eu.
func (l *lostHome) refusedAtOnce(f func() error) {
	l.t.Helper()
	before := l.trips()
	requireAway(l.t, f())
	require.Equal(l.t, before, l.trips())
}

// fails ends the test unless f asks eu, in vain.
func (l *lostHome) fails(f func() error) {
	l.t.Helper()
	before := l.trips()
	requireAway(l.t, f())
	require.Greater(l.t, l.trips(), before)
}

// works waits until f is answered; on a busy machine a look may come too late.
func (l *lostHome) works(f func() error) {
	l.t.Helper()
	require.Eventually(l.t, func() bool {
		select {
		case l.look <- now:
		default:
		}
		return f() == nil
	}, time.Minute, time.Millisecond)
}

func TestBreaker(t *testing.T) {
	for name, lose := range map[string]func(*lostHome) error{"by a read": (*lostHome).ask, "by a write": (*lostHome).write} {
		t.Run(name, func(t *testing.T) {
			l := newLostHome(t)
			l.fails(func() error { return lose(l) })
			for range 2 { // looks in vain change nothing
				l.refusedAtOnce(l.ask)
				l.refusedAtOnce(l.write)
				require.NoError(t, ask(t.Context(), l.NewReadBatch(), region.US, region.SG))
				l.lookInVain()
			}
			l.refusedAtOnce(l.ask)
			l.Restore()
			l.refusedAtOnce(l.ask)
			l.lookAgain()
			l.works(l.ask)
			require.NoError(t, l.write())

			l.Cut()
			l.fails(l.write)
			l.Restore()
			l.lookAgain()
			l.works(l.write)
		})
	}
}

// TestBreakerOfManyCallers loses a home under several callers at once: one watch is enough for all.
func TestBreakerOfManyCallers(t *testing.T) {
	l := newLostHome(t)
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if l.ask() == nil {
				t.Error("the home is cut off")
			}
		})
	}
	all.Wait()
	l.Restore()
	l.lookAgain()
	l.works(l.ask)
	require.Eventually(t, func() bool { return !l.Watched(region.EU) }, time.Minute, time.Millisecond)
}

func TestPingLetsAHomeBackIn(t *testing.T) {
	l := newLostHome(t)
	requireAway(t, l.Ping(t.Context(), region.EU))
	l.refusedAtOnce(l.ask)
	l.Restore()
	require.NoError(t, l.Ping(t.Context(), region.EU), "whatever the breaker says")
	require.NoError(t, l.ask())
	require.NoError(t, l.Ping(t.Context(), region.US))
}

// TestCallersWhoGiveUp holds that a caller without patience says nothing about the home: else one client's short
// deadlines would close a region to everybody.
func TestCallersWhoGiveUp(t *testing.T) {
	for name, leave := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Millisecond)
		},
		"gone": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Millisecond, cancel)
			return ctx, cancel
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLostHome(t)
			ctx, cancel := leave(t.Context())
			defer cancel()
			require.Error(t, ask(ctx, l.NewReadBatch(), region.EU))
			l.Restore()
			require.NoError(t, l.ask(), "the breaker is closed")
		})
	}
}
