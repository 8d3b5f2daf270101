package app

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

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
		_, err := conn.Exec(t.Context(), "INSERT INTO daily_usages (home, user_id, kind, day, used) VALUES ('eu', '02', 'uploads', $1, 1)", fmt.Sprintf("2026-05-%02d", day))
		require.NoError(t, err)
	}
	job := (&dependencies{log: slog.New(slog.DiscardHandler)}).sweepDailyUsages(shared)
	for _, want := range []bool{true, false} {
		removed, err := job.Drain(t.Context(), region.EU, 0)
		require.NoError(t, err)
		require.Equal(t, want, removed)
	}
	var left int
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM daily_usages").Scan(&left))
	require.Equal(t, 2, left)
}
