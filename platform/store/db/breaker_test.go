package db_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/faults/proxy"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// lostHome is a DB whose eu home is unreachable. It probes eu when the test says so, and its probes fail at once.
type lostHome struct {
	*db.DB
	*proxy.Proxy
	t       *testing.T
	probe   chan time.Time
	pauses  atomic.Int64 // started timers between probes
	cut     atomic.Bool
	metrics *prometheus.Registry
}

func newLostHome(t *testing.T) *lostHome {
	t.Helper()
	l := &lostHome{t: t, probe: make(chan time.Time), metrics: prometheus.NewRegistry()}
	l.DB, l.Proxy = cutOff(t, func(c *db.Config) { c.Registry = l.metrics })
	l.SetProbeTimer(func(time.Duration) <-chan time.Time {
		l.pauses.Add(1)
		return l.probe
	})
	l.SetProbeDial(region.EU, func() error {
		if l.cut.Load() {
			return context.DeadlineExceeded
		}
		return nil
	})
	release, err := l.TakeConnections(t.Context(), region.EU) // so that calls which must fail need no new ones
	require.NoError(t, err)
	release()
	l.Cut()
	return l
}

// Cut makes eu unreachable.
func (l *lostHome) Cut() {
	l.cut.Store(true)
	l.Proxy.Cut()
}

// Restore makes eu reachable.
func (l *lostHome) Restore() {
	l.Proxy.Restore()
	l.cut.Store(false)
}

func (l *lostHome) ask() error { return ask(l.t.Context(), l.NewBatch(), region.EU) }

// askBriefly is ask with a time limit for a home that does not answer.
func (l *lostHome) askBriefly() error { return ask(briefly(l.t), l.NewBatch(), region.EU) }

// write runs a transaction that must not be retried.
func (l *lostHome) write() error { return l.writeIn(l.t.Context()) }

// writeBriefly is write with a time limit for a home that does not answer.
func (l *lostHome) writeBriefly() error { return l.writeIn(briefly(l.t)) }

func (l *lostHome) writeIn(ctx context.Context) error {
	w := l.NewTx(region.EU)
	w.Exec(raw(updateSomething))
	return w.Commit(ctx)
}

// probeAgain triggers a probe.
func (l *lostHome) probeAgain() {
	l.t.Helper()
	select {
	case l.probe <- time.Time{}:
	case <-time.After(patience):
		require.Fail(l.t, "no probe is running")
	}
}

// probeInVain triggers a probe and waits until it has failed.
func (l *lostHome) probeInVain() {
	l.t.Helper()
	before := l.pauses.Load()
	l.probeAgain()
	require.Eventually(l.t, func() bool { return l.pauses.Load() > before }, patience, time.Millisecond)
}

// trips returns the number of round trips to eu.
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

// refusedAtOnce checks that f fails without a round trip to eu.
func (l *lostHome) refusedAtOnce(f func() error) {
	l.t.Helper()
	before := l.trips()
	requireUnavailable(l.t, f())
	require.Equal(l.t, before, l.trips())
}

// fails checks that f fails after a round trip to eu.
func (l *lostHome) fails(f func() error) {
	l.t.Helper()
	before := l.trips()
	requireUnavailable(l.t, f())
	require.Greater(l.t, l.trips(), before)
}

// works waits until f succeeds: a probe has let the home back in, and connections that were lost are replaced.
func (l *lostHome) works(f func() error) {
	l.t.Helper()
	require.Eventually(l.t, func() bool {
		select {
		case l.probe <- time.Time{}:
		default:
		}
		return f() == nil
	}, patience, time.Millisecond)
}

func TestBreaker(t *testing.T) {
	for name, lose := range map[string]func(*lostHome) error{"by a read": (*lostHome).askBriefly, "by a write": (*lostHome).writeBriefly} {
		t.Run(name, func(t *testing.T) {
			l := newLostHome(t)
			l.fails(func() error { return lose(l) })
			for range 2 { // failed probes change nothing
				l.refusedAtOnce(l.ask)
				l.refusedAtOnce(l.write)
				require.NoError(t, ask(t.Context(), l.NewBatch(), region.US, region.SG))
				l.probeInVain()
			}
			l.refusedAtOnce(l.ask)
			l.Restore()
			l.refusedAtOnce(l.ask)
			l.probeAgain()
			l.works(l.ask)
			require.NoError(t, l.write())

			l.Cut()
			l.fails(l.writeBriefly)
			l.Restore()
			l.probeAgain()
			l.works(l.write)
		})
	}
}

// TestBreakerOfManyCallers makes several concurrent calls fail: only one probe is started.
func TestBreakerOfManyCallers(t *testing.T) {
	l := newLostHome(t)
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if l.askBriefly() == nil {
				t.Error("the home is cut off")
			}
		})
	}
	all.Wait()
	l.Restore()
	l.probeAgain()
	l.works(l.ask)
	require.Eventually(t, func() bool { return !l.Probing(region.EU) }, patience, time.Millisecond)
}

// TestStatusOfALostHome checks that the status opens the breaker of a home that does not respond, and asks nothing as long as
// it is open.
func TestStatusOfALostHome(t *testing.T) {
	l := newLostHome(t)
	status := func() error {
		_, err := l.Status(briefly(t), region.EU)
		return err
	}
	requireUnavailable(t, status())
	require.True(t, l.Probing(region.EU))
	l.refusedAtOnce(l.ask)
	l.Restore()
	requireUnavailable(t, status())
	l.probeAgain()
	l.works(status)
	_, err := l.Status(t.Context(), region.US)
	require.NoError(t, err)
}

// TestCallersWhoGiveUp checks that a call that ends early, because its caller does, does not open the breaker. Otherwise the short
// deadlines of one client would make a region unavailable to all.
func TestCallersWhoGiveUp(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	late, end := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer end()
	for name, ctx := range map[string]context.Context{"deadline": late, "gone": gone} {
		t.Run(name, func(t *testing.T) {
			s := openNew(t)
			require.Error(t, s.Record(ctx, region.EU, ctx.Err(), db.MinWait-1))
			require.False(t, s.Probing(region.EU))
			require.NoError(t, ask(t.Context(), s.NewBatch(), region.EU), "the breaker is closed")
			require.Error(t, s.Record(ctx, region.EU, ctx.Err(), db.MinWait))
			require.True(t, s.Probing(region.EU))
		})
	}
}

// TestBusyPool checks that calls which find no free connection do not open the breaker.
func TestBusyPool(t *testing.T) {
	s, _ := cutOff(t)
	release, err := s.TakeConnections(t.Context(), region.EU)
	require.NoError(t, err)
	requireUnavailable(t, ask(briefly(t), s.NewBatch(), region.EU))
	w := s.NewTx(region.EU)
	w.Exec(raw(updateSomething))
	requireUnavailable(t, w.Commit(briefly(t)))
	require.False(t, s.Probing(region.EU))
	release()
	require.NoError(t, ask(t.Context(), s.NewBatch(), region.EU), "the breaker is closed")
}

// TestChecksUseIdleConnections checks a home that responds, also while no connection is idle and after the database has ended
// the sessions of the pool.
func TestChecksUseIdleConnections(t *testing.T) {
	url := dbtest.New(t)
	d := open(t, url)
	opened := d.CountProbes(region.EU)
	require.NoError(t, ask(t.Context(), d.NewBatch(), region.EU))
	require.True(t, d.Responds(region.EU))
	require.Zero(t, opened.Load())
	release, err := d.TakeConnections(t.Context(), region.EU)
	require.NoError(t, err)
	require.True(t, d.Responds(region.EU))
	require.EqualValues(t, 1, opened.Load())
	release()
	if testdb.Cockroach(t) {
		return // which has no statement that ends sessions by the name of their program
	}
	_, err = connect(t, url).Exec(t.Context(),
		`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plaza-eu' AND datname = current_database()`)
	require.NoError(t, err)
	require.True(t, d.Responds(region.EU), "on a new connection")
	require.EqualValues(t, 2, opened.Load())
}
