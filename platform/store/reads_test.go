package store_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/faults/proxy"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

const anything = `SELECT $1::text`

// nobody takes the rows of a statement that a test does not look at.
func nobody(pgx.Rows) error { return nil }

func TestReadsOfNothing(t *testing.T) {
	s := open(t, "postgresql://nobody@127.0.0.1:1/nothing")
	var users []store.User
	var community *store.Community
	r := s.NewReadBatch()
	r.Users([]string{"not an id", "ff0000000000000000000000"}, &users)
	r.Community("", &community)
	require.True(t, r.Empty())
	run(t, r)
	require.Empty(t, users)
	require.Nil(t, community)
}

// TestReadsAskAllHomesAtOnce has the rows of each home wait until those of every other home are there as well.
func TestReadsAskAllHomesAtOnce(t *testing.T) {
	s := openNew(t, func(c *store.Config) { c.StatementTimeout = time.Minute })
	ctx, trips := store.CountRoundTrips(t.Context())
	var there sync.WaitGroup
	there.Add(len(region.All()))
	r := s.NewReadBatch()
	for _, home := range region.All() {
		r.AddSQL(home, anything, func(pgx.Rows) error {
			there.Done()
			there.Wait()
			return nil
		})
	}
	require.NoError(t, r.Run(ctx))
	require.Equal(t, int64(1), trips.Load())
}

func TestReadsOfSeveralHomes(t *testing.T) {
	s := openNew(t)
	var ids []string
	for _, home := range region.All() {
		ids = append(ids, newUser(t, s, home, "of-"+string(home)).ID)
	}
	var users, same []store.User
	r := s.NewReadBatch()
	r.Users(ids, &users)
	r.Users(ids[:1], &same)
	run(t, r)
	got := []string{}
	for _, u := range users {
		got = append(got, u.ID)
	}
	require.ElementsMatch(t, ids, got)
	require.Len(t, same, 1)
	require.Empty(t, r.Missing())
}

// cutOff opens a store whose eu rows are behind a proxy.
func cutOff(t *testing.T, change ...func(*store.Config)) (*store.Store, *proxy.Proxy) {
	t.Helper()
	url := schema.New(t)
	p := proxy.New(t, url)
	change = append([]func(*store.Config){func(c *store.Config) {
		c.URLs[region.EU] = p.Through(url)
		c.StatementTimeout = 500 * time.Millisecond
	}}, change...)
	s := open(t, url, change...)
	t.Cleanup(p.Restore) // first of the cleanups: a store waits for its connections
	return s, p
}

// ask reads from homes.
func ask(ctx context.Context, r *store.ReadBatch, homes ...region.Code) error {
	for _, home := range homes {
		r.AddSQL(home, anything, nobody)
	}
	return r.Run(ctx)
}

func requireAway(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, fail.Unavailable("", nil))
	require.Equal(t, []string{"home region eu did not answer in time"}, fail.From(err).Details)
}

func TestReadsOfALostHome(t *testing.T) {
	s, p := cutOff(t)
	users := map[region.Code]store.User{}
	for _, home := range region.All() {
		users[home] = newUser(t, s, home, "of-"+string(home))
	}
	ids := []string{users[region.US].ID, users[region.EU].ID, users[region.SG].ID}
	p.Cut()
	require.NoError(t, ask(t.Context(), s.NewReadBatch(), region.US, region.SG), "nobody else is concerned")
	requireAway(t, ask(t.Context(), s.NewReadBatch(), region.US, region.EU, region.SG))

	var part []store.User
	finished := false
	r := s.NewBestEffortBatch()
	r.Users(ids, &part)
	r.Then(func() { finished = true })
	run(t, r)
	require.True(t, finished)
	require.Equal(t, []region.Code{region.EU}, r.Missing())
	require.ElementsMatch(t, []string{"of-us", "of-sg"}, []string{part[0].PublicID, part[1].PublicID})
	require.Len(t, part, 2)
}

// TestRelatedIsNoExcuse holds that only silence is left out of a page, never a mistake.
func TestRelatedIsNoExcuse(t *testing.T) {
	s := openNew(t)
	r := s.NewBestEffortBatch()
	r.AddSQL(region.SG, `SELECT 1 / 0 WHERE $1 = 'sg'`, nobody)
	require.Error(t, r.Run(t.Context()))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, ask(ctx, s.NewBestEffortBatch(), region.SG), context.Canceled)
}

// TestReadsRunAgain loses answers on the way: the rows are there, and none of them twice.
func TestReadsRunAgain(t *testing.T) {
	s, p := cutOff(t, func(c *store.Config) { c.StatementTimeout = time.Minute })
	u := newUser(t, s, region.EU, "anna")
	for range 3 {
		var users []store.User
		p.LoseAnswers(2)
		r := s.NewReadBatch()
		r.Users([]string{u.ID}, &users)
		run(t, r)
		require.Len(t, users, 1)
	}
}

// TestReadsAfterARestart ends all connections of a pool at once, as a database does that restarts.
func TestReadsAfterARestart(t *testing.T) {
	s, p := cutOff(t, func(c *store.Config) { c.StatementTimeout = time.Minute; c.PoolSize = 6 })
	var together sync.WaitGroup
	together.Add(6)
	var all sync.WaitGroup
	for range 6 { // fill the pool
		all.Go(func() {
			r := s.NewReadBatch()
			r.AddSQL(region.EU, anything, func(pgx.Rows) error {
				together.Done()
				together.Wait()
				return nil
			})
			if err := r.Run(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, 6, p.Connections())
	p.Drop()
	require.NoError(t, ask(t.Context(), s.NewReadBatch(), region.EU))
}

func TestScanFailures(t *testing.T) {
	s := openNew(t)
	broken := errors.New("broken")
	r := s.NewReadBatch()
	r.AddSQL(region.US, anything, func(pgx.Rows) error { return broken })
	require.ErrorIs(t, r.Run(t.Context()), broken)
	require.NoError(t, ask(t.Context(), s.NewReadBatch(), region.US))
}

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	s := openNew(t, func(c *store.Config) { c.Registry = registry })
	require.NoError(t, ask(t.Context(), s.NewReadBatch(), region.US, region.EU))
	families, err := registry.Gather()
	require.NoError(t, err)
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			values[f.GetName()+" "+m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	require.InDelta(t, 1, values["plaza_database_round_trips_total eu"], 0)
	require.InDelta(t, 1, values["plaza_database_connections us"], 0)
	require.InDelta(t, 0, values["plaza_database_connections sg"], 0)

	_, err = store.Open(t.Context(), store.Config{URLs: map[region.Code]string{"": "postgresql://db/plaza"}, Registry: registry})
	require.ErrorAs(t, err, new(prometheus.AlreadyRegisteredError))
}

func TestOpenNeedsAnAddressOfEveryHome(t *testing.T) {
	for name, tc := range map[string]struct {
		urls map[region.Code]string
		want string
	}{
		"none":     {nil, "database of home us: no address"},
		"two":      {map[region.Code]string{region.US: "postgresql://us/plaza", region.EU: "postgresql://eu/plaza"}, "database of home sg: no address"},
		"nonsense": {map[region.Code]string{"": "postgresql://plaza:hunter2@db:port/"}, "database of home us: the address is not a database URL"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := store.Open(t.Context(), store.Config{URLs: tc.urls})
			require.EqualError(t, err, tc.want)
		})
	}
}

func TestRedactURL(t *testing.T) {
	require.Equal(t, "postgresql://plaza:xxxxx@db/plaza", store.RedactURL("postgresql://plaza:hunter2@db/plaza"))
	require.Equal(t, "(not a URL)", store.RedactURL("://hunter2"))
}

// TestLostConnectionsAreNotALostHome ends connections under calls that cannot run again: they fail, the next does not.
func TestLostConnectionsAreNotALostHome(t *testing.T) {
	lose := true
	s := openNew(t, func(c *store.Config) {
		c.Fault = func() error {
			if lose {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
	})
	w := s.NewTx(region.EU)
	w.BanUser(region.NewID(region.EU), true, now, new(*store.User))
	requireAway(t, w.Commit(t.Context()))
	lose = false
	commit(t, w)
}
