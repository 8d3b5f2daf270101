package store_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/network"
)

// TestServers reads which of the running servers lack a capability. One that was not seen for a minute has stopped, and is forgotten after
// a day.
func TestServers(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	announce := func(id string, capabilities ...string) {
		t.Helper()
		w := s.NewTx(homeOf(id))
		w.AnnounceServer(network.Server{ID: id, Version: "1", Capabilities: capabilities})
		commit(t, w)
	}
	seen := func(id, ago string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), `UPDATE servers SET seen_at = now() - $2::text::interval WHERE id = $1`, id, ago)
		require.NoError(t, err)
	}
	without := func(capability string) []string {
		t.Helper()
		var found []network.Server
		r := s.NewReadBatch()
		r.ServersWithout(capability, &found)
		run(t, r)
		ids := make([]string, len(found))
		for i, server := range found {
			ids[i] = server.ID
		}
		slices.Sort(ids)
		return ids
	}
	able, unable, elsewhere, stopped := region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.US), region.NewID(region.EU)
	announce(able, "moves", "erasures")
	announce(unable, "erasures")
	announce(elsewhere)
	announce(stopped)
	seen(stopped, "61 seconds")
	want := []string{unable, elsewhere}
	slices.Sort(want)
	require.Equal(t, want, without("moves"))
	require.Equal(t, []string{elsewhere}, without("erasures"))
	announce(unable, "moves")
	require.Equal(t, []string{elsewhere}, without("moves"), "a new version")
	seen(stopped, "23 hours")
	announce(able, "moves", "erasures")
	announce(stopped)
	require.Contains(t, without("moves"), stopped, "it runs again")
	seen(stopped, "25 hours")
	announce(able, "moves", "erasures")
	var left int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM servers WHERE home = 'eu'`).Scan(&left))
	require.Equal(t, 2, left)
	w := s.NewTx(region.US)
	w.WithdrawServer(elsewhere)
	commit(t, w)
	require.Empty(t, without("moves"))

	var many []string
	for range 11 {
		many = append(many, region.NewID(region.SG))
		announce(many[len(many)-1])
	}
	seen(many[4], "30 seconds") // before all others
	want = slices.Delete(slices.Clone(many), 4, 5)
	slices.Sort(want)
	require.Equal(t, want, without("moves"), "the latest ten")
}

// TestServersBehind has servers follow the route of a user. One that has announced itself at two homes follows it if either says so.
func TestServersBehind(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	user, one, two := region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.EU)
	announce := func(home region.Code, id string, routes ...string) {
		t.Helper()
		w := s.NewTx(home)
		w.AnnounceServer(network.Server{ID: id, Version: "1", MoveRoutes: routes})
		commit(t, w)
	}
	behind := func() (found bool) {
		t.Helper()
		r := s.NewReadBatch()
		r.ServersBehind(user, 3, &found)
		run(t, r)
		return found
	}
	require.False(t, behind(), "there are none")
	announce(region.EU, one, user+" 2", region.NewID(region.EU)+" 3")
	require.True(t, behind(), "it follows an earlier version")
	announce(region.EU, one, user+" 3")
	require.False(t, behind())
	announce(region.EU, two)
	require.True(t, behind())
	announce(region.US, two, user+" 3")
	require.False(t, behind())
	announce(region.US, two)
	_, err := conn.Exec(t.Context(), `UPDATE servers SET seen_at = now() - INTERVAL '61 seconds' WHERE id = $1`, two)
	require.NoError(t, err)
	require.False(t, behind(), "it has stopped")
	for n, want := range map[int]bool{998: false, 999: true} { // in addition to the first one
		_, err := conn.Exec(t.Context(), `INSERT INTO servers (home, id, version, capabilities, move_routes, seen_at)
			SELECT 'eu', 'server ' || i, '1', '{}', ARRAY[$1::text], now() FROM generate_series(1, $2::bigint) AS i`, user+" 3", n)
		require.NoError(t, err)
		require.Equal(t, want, behind(), "there can be more than the %d that were read", n+1)
		_, err = conn.Exec(t.Context(), `DELETE FROM servers WHERE id LIKE 'server %'`)
		require.NoError(t, err)
	}
}
