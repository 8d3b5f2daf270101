package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
)

// TestMovedIDsOfOthers counts the ids that have moved with other users, as one home knows them.
func TestMovedIDsOfOthers(t *testing.T) {
	s := openNew(t)
	users := []string{region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.SG)}
	route := func(home region.Code, userID string, version, ids int64) {
		t.Helper()
		w := s.NewTx(home)
		w.SetRoute(lifecycle.Route{UserID: userID, Home: homeOf(userID), To: region.US, State: lifecycle.MoveDone, Version: version}, ids)
		commit(t, w)
	}
	count := func(home region.Code, userID string) (n int64) {
		t.Helper()
		r := s.NewReadBatch()
		r.CountOtherMovedIDs(home, userID, &n)
		run(t, r)
		return n
	}
	require.Zero(t, count(region.EU, users[0]))
	for i, id := range users {
		route(region.EU, id, 2, []int64{1, 10, 100}[i])
	}
	route(region.SG, users[0], 2, 1000)
	route(region.EU, users[1], 1, 5000) // an older route
	require.Equal(t, int64(110), count(region.EU, users[0]))
	require.Equal(t, int64(101), count(region.EU, users[1]))
	require.Equal(t, int64(111), count(region.EU, region.NewID(region.EU)))
	require.Zero(t, count(region.SG, users[0]))
	route(region.EU, users[1], 3, 20)
	require.Equal(t, int64(120), count(region.EU, users[0]))
}

// TestStartUserMove starts a move once. One that has ended starts again, with nothing of the former one.
func TestStartUserMove(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	user, other := region.NewID(region.EU), region.NewID(region.EU)
	start := func(id string, to region.Code, seconds int) lifecycle.UserMove {
		t.Helper()
		var m *lifecycle.UserMove
		w := s.NewTx(lifecycle.MoveHome(id))
		w.StartUserMove(lifecycle.UserMove{ID: id, FromHome: region.EU, ToHome: to, AllowInterruption: to == region.SG}, later(seconds), &m)
		commit(t, w)
		return *m
	}
	first, another := start(user, region.US, 0), start(other, region.US, 0)
	require.Equal(t, lifecycle.MoveCollecting, first.State)
	require.Equal(t, first, start(user, region.SG, 1), "it is running")
	for _, state := range []string{"done", "cancelled"} {
		_,
			err := conn.Exec(t.Context(),
			`UPDATE user_moves SET state = $2, reason = 'a reason', step = 'step', position = '{a}', moved = '{"posts": 1}', ids = 7, attempts = 3,
			finished_at = now() WHERE id = $1`, user, state)
		require.NoError(t, err)
		again := start(user, region.SG, 2)
		want := first
		want.ToHome, want.AllowInterruption, want.Version = region.SG, true, again.Version
		want.RequestedAt, want.UpdatedAt, want.DueAt = again.RequestedAt, again.UpdatedAt, again.DueAt
		require.Equal(t, want, again, state)
		require.Greater(t, again.Version, first.Version)
		require.True(t, later(2).Equal(again.RequestedAt) && later(2).Equal(again.UpdatedAt) && later(2).Equal(again.DueAt))
	}
	require.Equal(t, another, start(other, region.SG, 3), "another user")
}
