package app

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/idempotency"
	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// TestDailyUsagesAreSwept checks that the usages of today and yesterday are kept: quotas of today depend on them, and the clocks of
// servers may differ.
func TestDailyUsagesAreSwept(t *testing.T) {
	url := dbtest.New(t)
	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": url}, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	now := time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)
	shared := &service.Deps{Store: st, Now: func() time.Time { return now }}
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	for day := 1; day <= 3; day++ {
		_, err := conn.Exec(t.Context(), "INSERT INTO daily_usages (home, user_id, kind, day, used) VALUES ('eu', '02', 'uploads', $1, 1)",
			fmt.Sprintf("2026-05-%02d", day))
		require.NoError(t, err)
	}
	job := sweepDailyUsages(shared)
	for _, want := range []bool{true, false} {
		removed, err := job.Drain(t.Context(), region.EU, 0)
		require.NoError(t, err)
		require.Equal(t, want, removed)
	}
	var left int
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM daily_usages").Scan(&left))
	require.Equal(t, 2, left)
}

// TestExpiredRowsAreSwept checks which rows the jobs remove at noon, and whether they say that there may be more.
func TestExpiredRowsAreSwept(t *testing.T) {
	url := dbtest.New(t)
	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": url}, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	noon := time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)
	shared := &service.Deps{Store: st, Now: func() time.Time { return noon }}
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	once := &idempotency.Executor{Deps: shared}
	for table, tc := range map[string]struct {
		job    jobs.Job
		insert string
		age    time.Duration // of what is removed
	}{
		"rate_usages": {
			sweepRateUsages(shared), "INSERT INTO rate_usages (home, key, level, refill, updated_at) VALUES ('eu', $1::text::bytea, 1, 1, $2)",
			time.Hour,
		},
		"idempotency_marks": {
			once.Sweep(sweepEvery), "INSERT INTO idempotency_marks (home, key, attempt, expires_at) VALUES ('eu', $1::text::bytea, '', $2)", 0,
		},
		"idempotency_keys": {
			once.Sweep(sweepEvery),
			"INSERT INTO idempotency_keys (home, key, request, attempt, locked_until, expires_at) VALUES ('eu', $1::text::bytea, '', '', " +
				"now(), $2)", 0,
		},
		"sessions": {
			sweepSessions(shared),
			"INSERT INTO sessions (home, user_id, id, device_hash, created_at, expires_at) VALUES ('eu', '02', $1, '', now(), $2)", 0,
		},
	} {
		for key, at := range map[string]time.Time{"old": noon.Add(-tc.age - time.Second), "new": noon.Add(-tc.age + time.Second)} {
			_, err := conn.Exec(t.Context(), tc.insert, key, at)
			require.NoError(t, err, table)
		}
		for _, more := range []bool{true, false} {
			found, err := tc.job.Drain(t.Context(), region.EU, 0)
			require.NoError(t, err, table)
			require.Equal(t, more, found, table)
			var left int
			require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&left))
			require.Equal(t, 1, left, table)
		}
	}
}
