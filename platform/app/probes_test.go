package app_test

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/app"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/statusz"
	"github.com/plaza-social/plaza/platform/store/db"
)

// recorded returns the configuration of a server with a new database, and the recorder of what it sends there.
func recorded(t *testing.T) (cfg config.Config, address string, recorder *sqlRecorder) {
	t.Helper()
	address = testdb.New(t)
	recorder, recordedURL := recordSQL(t, address)
	cfg = fullConfig(t, recordedURL.Reveal())
	cfg.StatementTimeout = config.Duration(time.Minute)
	return cfg, address, recorder
}

// requirePoolsOnly checks that all connections were opened by the pools of the homes.
func (r *sqlRecorder) requirePoolsOnly(t *testing.T) {
	t.Helper()
	opened := r.connections()
	t.Log("connections that were opened:", opened)
	for _, home := range region.All() {
		require.Positive(t, opened["plaza-"+home.String()])
		delete(opened, "plaza-"+home.String())
	}
	require.Empty(t, opened, "connections outside of the pools")
}

// TestProbesShareOneRound lets many probes ask a server at once, before its schema is migrated and after: one statement to
// each home answers all of them, on connections of the pools. The server becomes ready without a restart.
func TestProbesShareOneRound(t *testing.T) {
	cfg, address, recorder := recorded(t)
	cfg.PoolSize = 2
	var seconds atomic.Int64
	began := time.Now()
	r := run(t, cfg, app.WithReadyClock(func() time.Time { return began.Add(time.Duration(seconds.Load()) * time.Second) }))
	probe := func() {
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				resp, err := http.Get("http://" + r.OpsAddr() + statusz.ReadyPath)
				if err != nil {
					t.Error(err)
					return
				}
				_ = resp.Body.Close()
				r.Ready(t.Context())
			})
		}
		all.Wait()
		r.status(t)
	}
	answered := func(c statusz.CheckResult) bool { return c.Ready || c.Name == "schema" }
	settled := func(ready func(statusz.CheckResult) bool) func() bool {
		return func() bool {
			return !slices.ContainsFunc(r.Ready(t.Context()).Checks, func(c statusz.CheckResult) bool { return !ready(c) })
		}
	}
	require.Eventually(t, settled(answered), patience, 10*time.Millisecond)
	probe()
	require.False(t, r.Ready(t.Context()).Ready)
	parsed, _ := recorder.times("store.status")
	require.Equal(t, len(region.All()), parsed, "without its table, the statement cannot be prepared")

	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: address}))
	require.Eventually(t, func() bool {
		seconds.Add(1)
		return settled(func(c statusz.CheckResult) bool { return c.Ready })()
	}, patience, 10*time.Millisecond)
	_, before := recorder.times("store.status")
	require.Positive(t, before)
	probe()
	_, after := recorder.times("store.status")
	require.Equal(t, before, after)
	seconds.Add(1)
	probe()
	require.Eventually(t, settled(func(c statusz.CheckResult) bool { return c.Ready }), patience, 10*time.Millisecond)
	_, after = recorder.times("store.status")
	require.LessOrEqual(t, after, before+len(region.All()), "a home whose connections are all in use, and answered, is not asked")
	recorder.requirePoolsOnly(t)
}

// TestReplacedDatabase gives a running server the database of another network, as a restore of the wrong backup does: it is not
// ready any more.
func TestReplacedDatabase(t *testing.T) {
	r, cfg := serving(t)
	conn, err := pgx.Connect(t.Context(), cfg.DatabaseURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	for _, home := range region.All() {
		_, err = conn.Exec(t.Context(), `INSERT INTO settings (home, name, value, changed_at, origin)
			VALUES ($1, 'networkIdentity', to_jsonb('another'::text), now(), '')`, home.String())
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return !r.Ready(t.Context()).Ready }, patience, 10*time.Millisecond)
	status, body := get(t, http.DefaultClient, "http://"+r.OpsAddr()+statusz.ReadyPath)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "schema: "+statusz.OtherNetwork)
}

// sessionsPerServer is the largest number of database sessions of a server, from its start on: its pools, and nothing else.
// A fleet of 50 has at most 1,200.
const sessionsPerServer = 3 * 8

// TestSessionsOfAServer counts the sessions that the start of a server takes, with its background work.
func TestSessionsOfAServer(t *testing.T) {
	if testdb.Cockroach(t) {
		t.Skip("sessions are counted in PostgreSQL")
	}
	cfg, address, recorder := recorded(t)
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: address}))
	r := run(t, cfg)
	require.Eventually(t, func() bool { return r.Ready(t.Context()).Ready }, patience, 10*time.Millisecond)
	require.Eventually(t, func() bool { return r.status(t).Placement.Reason == statusz.ReasonNoPlacement }, patience, 10*time.Millisecond)
	require.Empty(t, r.DrainJobs(t.Context()))
	recorder.requirePoolsOnly(t)

	require.Equal(t, sessionsPerServer, len(region.All())*int(cfg.PoolSize))
	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	var sessions int
	require.Eventually(t, func() bool { // the sessions of statements that were canceled end later
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`).Scan(&sessions))
		return sessions <= sessionsPerServer
	}, patience, 10*time.Millisecond)
	t.Log("sessions of a server after its start:", sessions)
}
