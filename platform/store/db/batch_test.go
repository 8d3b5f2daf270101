package db_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/faults/proxy"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

const (
	anything        = `SELECT $1::text`
	updateSomething = `UPDATE users SET is_global_ban = true WHERE home = $1`
)

// discard is a scan function for rows that a test ignores.
func discard(pgx.Rows) error { return nil }

// TestReadsAskAllHomesAtOnce blocks the scan of each home until the rows of all homes have arrived.
func TestReadsAskAllHomesAtOnce(t *testing.T) {
	s := openNew(t)
	ctx, trips := db.CountRoundTrips(t.Context())
	var there sync.WaitGroup
	there.Add(len(region.All()))
	r := s.NewBatch()
	for _, home := range region.All() {
		r.Add(home, raw(anything), func(pgx.Rows) error {
			there.Done()
			there.Wait()
			return nil
		})
	}
	require.NoError(t, r.Run(ctx))
	require.Equal(t, int64(1), trips.Load())
}

// TestGenericPlans checks that statements are not planned again for their arguments.
func TestGenericPlans(t *testing.T) {
	if testdb.Cockroach(t) {
		t.Skip("not all versions of CockroachDB have the setting")
	}
	s := openNew(t)
	var mode string
	r := s.NewBatch()
	r.Add(region.EU, raw(`SELECT current_setting('plan_cache_mode') WHERE $1::text IS NOT NULL`), db.Value(&mode))
	require.NoError(t, r.Run(t.Context()))
	require.Equal(t, "force_generic_plan", mode)
}

// lose makes a DB find out that eu, which is cut off, does not answer.
func lose(t *testing.T, s *db.DB) {
	t.Helper()
	requireUnavailable(t, ask(briefly(t), s.NewBatch(), region.EU))
}

// briefly returns a context with just enough time for a home to count as unavailable if it does not answer.
func briefly(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), db.MinWait+db.MinWait/10)
	t.Cleanup(cancel)
	return ctx
}

// cutOff opens a DB that connects to eu through a proxy.
func cutOff(t *testing.T, change ...func(*db.Config)) (*db.DB, *proxy.Proxy) {
	t.Helper()
	url := dbtest.New(t)
	p := proxy.New(t, url)
	change = append([]func(*db.Config){func(c *db.Config) {
		c.URLs[region.EU] = p.Through(url)
	}}, change...)
	s := open(t, url, change...)
	t.Cleanup(p.Restore) // first of the cleanups: a store waits for its connections
	return s, p
}

// ask runs a batch with one statement for each home.
func ask(ctx context.Context, r *db.Batch, homes ...region.Code) error {
	for _, home := range homes {
		r.Add(home, raw(anything), discard)
	}
	return r.Run(ctx)
}

func requireUnavailable(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, fail.Unavailable("", nil))
	require.Equal(t, []string{"home region eu did not answer in time"}, fail.From(err).Details)
}

// TestBestEffortReturnsErrors checks that only unavailable homes are left out, not errors.
func TestBestEffortReturnsErrors(t *testing.T) {
	s := openNew(t)
	r := s.NewBestEffortBatch()
	r.Add(region.SG, raw(`SELECT 1 / 0 WHERE $1 = 'sg'`), discard)
	require.Error(t, r.Run(t.Context()))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, ask(ctx, s.NewBestEffortBatch(), region.SG), context.Canceled)
}

// TestReadsAfterARestart closes all connections of a pool, like a restart of the database.
func TestReadsAfterARestart(t *testing.T) {
	s, p := cutOff(t, func(c *db.Config) { c.PoolSize = 6 })
	var together sync.WaitGroup
	together.Add(6)
	var all sync.WaitGroup
	for range 6 { // fill the pool
		all.Go(func() {
			r := s.NewBatch()
			r.Add(region.EU, raw(anything), func(pgx.Rows) error {
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
	require.NoError(t, ask(t.Context(), s.NewBatch(), region.EU))
}

func TestBatchOfAnUnavailableHome(t *testing.T) {
	s, p := cutOff(t)
	require.NoError(t, ask(t.Context(), s.NewBatch(), region.All()...))
	p.Cut()
	lose(t, s)
	require.NoError(t, ask(t.Context(), s.NewBatch(), region.US, region.SG), "other homes are not affected")
	requireUnavailable(t, ask(t.Context(), s.NewBatch(), region.All()...))

	found := map[region.Code][]string{}
	finished := false
	r := s.NewBestEffortBatch()
	r.SetTimeout(patience) // of the homes that answer
	for _, home := range region.All() {
		var part []string
		r.Add(home, raw(anything), db.Values(&part))
		r.Then(func() { found[home] = part })
	}
	r.Then(func() { finished = true })
	run(t, r)
	require.True(t, finished)
	require.Equal(t, []region.Code{region.EU}, r.Missing())
	require.Equal(t, map[region.Code][]string{region.US: {"us"}, region.EU: nil, region.SG: {"sg"}}, found)
}

// TestBatchRetries loses responses: no row is missing or returned twice.
func TestBatchRetries(t *testing.T) {
	s, p := cutOff(t)
	require.NoError(t, ask(t.Context(), s.NewBatch(), region.EU))
	for range 3 {
		var rows []int
		p.LoseAnswers(2)
		r := s.NewBatch()
		r.Add(region.EU, raw(`SELECT n FROM generate_series(1, 3) AS n WHERE $1 = 'eu'`), db.Values(&rows))
		run(t, r)
		require.Equal(t, []int{1, 2, 3}, rows)
	}
}

func TestScanFailures(t *testing.T) {
	s := openNew(t)
	broken := errors.New("broken")
	r := s.NewBatch()
	r.Add(region.US, raw(anything), func(pgx.Rows) error { return broken })
	require.ErrorIs(t, r.Run(t.Context()), broken)
	require.NoError(t, ask(t.Context(), s.NewBatch(), region.US))
}

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	s := openNew(t, func(c *db.Config) { c.Registry = registry })
	require.NoError(t, ask(t.Context(), s.NewBatch(), region.US, region.EU))
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

	_, err = db.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": "postgresql://db/plaza"}, Registry: registry})
	require.ErrorAs(t, err, new(prometheus.AlreadyRegisteredError))
}

func TestOpenNeedsAnAddressOfEveryHome(t *testing.T) {
	for name, tc := range map[string]struct {
		urls map[region.Code]string
		want string
	}{
		"none": {nil, "database of home us: no address"},
		"two": {
			map[region.Code]string{region.US: "postgresql://us/plaza", region.EU: "postgresql://eu/plaza"},
			"database of home sg: no address",
		},
		"nonsense": {
			map[region.Code]string{"": "postgresql://plaza:hunter2@db:port/"},
			"database of home us: the database URL has a port that is not a number from 1 to 65535: a user name and a password must be " +
				"followed by @ and the host",
		},
		"a parameter": {
			map[region.Code]string{"": " postgresql://plaza:hunter2@db/plaza?sslmode=maybe\n"},
			"database of home us: cannot parse `postgresql://plaza:xxxxx@db/plaza?sslmode=maybe`: failed to configure TLS (sslmode is invalid)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := db.Open(t.Context(), db.Config{URLs: tc.urls})
			require.EqualError(t, err, tc.want)
		})
	}
}

// TestLostConnectionsAreNotALostHome loses the connection of a transaction that must not be retried: it fails, and the next one succeeds.
func TestLostConnectionsAreNotALostHome(t *testing.T) {
	lose := true
	s := openNew(t, func(c *db.Config) {
		c.Fault = func() error {
			if lose {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
	})
	w := s.NewTx(region.EU)
	w.Exec(raw(updateSomething))
	requireUnavailable(t, w.Commit(t.Context()))
	lose = false
	commit(t, w)
}
