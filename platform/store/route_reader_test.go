package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
)

// TestManyRoutes reads more routes than a page, and more ids of one of them.
func TestManyRoutes(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	const routes, ids = 1001, 20_001
	prefix := region.NewID(region.EU)[:2]
	id := func(n int) string { return fmt.Sprintf("%s%022d", prefix, n) }
	exec(`INSERT INTO user_homes (home, user_id, from_home, to_home, state, ids, version, seq)
		SELECT 'us', $1 || lpad(n::text, 22, '0'), 'eu', 'sg', 'done', 1, 1, n FROM generate_series(1, $2::bigint) AS n`, prefix, routes)
	exec(`INSERT INTO moved_ids (home, user_id, id, kind) SELECT 'us', $1, $2 || lpad(n::text, 22, '0'), 'post' FROM generate_series(2001,
		2000 + $3::bigint) AS n`, id(1), prefix, ids)
	reader := lifecycle.NewRouteReader(s.Store, region.US)
	require.NoError(t, reader.Read(t.Context()))
	for n, want := range map[int]region.Code{
		1: region.SG, routes: region.SG, 2001: region.SG, 2000 + ids: region.SG, 2001 + ids: region.EU,
		routes + 1: region.EU,
	} {
		home, err := s.HomeOf(id(n))
		require.NoError(t, err)
		require.Equal(t, want, home, n)
	}
	require.EqualValues(t, routes, s.Routes().Moved(region.EU, region.SG))

	exec(`UPDATE user_homes SET state = 'moving', version = 2, seq = $1 WHERE user_id = $2`, routes+1, id(2))
	exec(`UPDATE user_homes SET from_home = 'us', version = 2 WHERE user_id = $1`, id(3)) // without a new number
	require.NoError(t, reader.Read(t.Context()))
	changed, _ := s.Routes().Route(id(2))
	require.Equal(t, db.MoveMoving, changed.State)
	unread, _ := s.Routes().Route(id(3))
	require.EqualValues(t, 1, unread.Version, "only what has changed is read")
}

// TestRoutesOfErasures has a server that was started after an erasure not keep its route, unless ids have moved with the user, and one
// that was running forget it.
func TestRoutesOfErasures(t *testing.T) {
	s := open(t, dbtest.New(t))
	moved, stayed := region.NewID(region.EU), region.NewID(region.EU)
	put := func(userID string, state lifecycle.MoveState, version int64) {
		t.Helper()
		w := s.NewTx(region.US)
		w.SetErasureRoute(userID, region.SG, state, version)
		commit(t, w)
	}
	w := s.NewTx(region.US)
	w.SetRoute(lifecycle.Route{UserID: moved, Home: region.EU, To: region.SG, State: lifecycle.MoveDone, Version: 3}, 1)
	w.InsertMovedIDs(moved, lifecycle.MovedUser, []string{moved})
	commit(t, w)
	put(moved, lifecycle.RouteErasing, 2) // older than the move
	put(moved, lifecycle.RouteErasing, 7)
	put(moved, lifecycle.RouteErased, 8)
	put(stayed, lifecycle.RouteErased, 8)
	reader := lifecycle.NewRouteReader(s.Store, region.US)
	require.NoError(t, reader.Read(t.Context()))
	route, known := s.Routes().Route(moved)
	require.True(t, known)
	require.Equal(t, lifecycle.RouteErased, route.State)
	home, err := s.HomeOf(moved)
	require.NoError(t, err)
	require.Equal(t, region.SG, home)
	_, known = s.Routes().Route(stayed)
	require.False(t, known)
	require.False(t, s.Routes().Erased(stayed), "no server of that time is left")
}
