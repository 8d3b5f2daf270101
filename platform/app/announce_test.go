package app

import (
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/network"
)

// TestAnnouncements has a server announce itself: at its own home, at another one while its own does not answer, and at none.
func TestAnnouncements(t *testing.T) {
	t.Parallel()
	const away = "postgresql://plaza@127.0.0.1:1/plaza"
	url := dbtest.New(t)
	for name, tc := range map[string]struct {
		urls map[region.Code]string
		home region.Code // that records the server; empty for none
	}{
		"at its own home": {map[region.Code]string{region.US: url, region.EU: url, region.SG: url}, region.EU},
		"at another home": {map[region.Code]string{region.US: away, region.EU: away, region.SG: url}, region.SG},
		"nowhere":         {map[region.Code]string{region.US: away, region.EU: away, region.SG: away}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, err := store.Open(t.Context(), db.Config{URLs: tc.urls, Limits: limits.Lift(), Log: slog.New(slog.DiscardHandler)})
			require.NoError(t, err)
			t.Cleanup(st.Close)
			server := network.Server{ID: region.NewID(region.EU), Version: "1"}
			a := newAnnouncer(st, server, region.EU, slog.New(slog.DiscardHandler))
			require.Error(t, st.Routes().RequireAnnounced(), "before the first announcement")
			require.False(t, a.check(false).Advisory)
			require.True(t, a.check(true).Advisory)
			_ = a.announce(t.Context())
			if tc.home == "" {
				require.ErrorIs(t, a.check(false).Run(t.Context()), fail.Unavailable("no home has recorded that the server is running", nil))
				require.True(t, a.failed.Load())
				require.False(t, a.known.Load())
				return
			}
			require.NoError(t, a.check(false).Run(t.Context()))
			require.False(t, a.failed.Load())
			require.True(t, a.known.Load())
			require.Equal(t, []string{tc.home.String()}, homesOfServer(t, url, server.ID))
			ended := false
			a.withdrawBefore(func() { ended = true })()
			require.True(t, ended)
			require.Equal(t, tc.home == region.EU, len(homesOfServer(t, url, server.ID)) == 0, "rows at other homes expire")
		})
	}
}

// homesOfServer returns the homes that have recorded a server.
func homesOfServer(t *testing.T, url, id string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	rows, err := conn.Query(t.Context(), "SELECT home FROM servers WHERE id = $1 ORDER BY home", id)
	require.NoError(t, err)
	homes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return homes
}
