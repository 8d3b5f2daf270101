package store_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/people"
)

// TestMirrorsOfFollows delivers the states of a follow to the home of the followed user in every order and twice: the
// mirror has the newest of those that arrived, and the counts are those of its rows.
func TestMirrorsOfFollows(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	states := []people.Follow{
		{Version: 1, Status: people.FollowPending, CreatedAt: later(1), UpdatedAt: later(1)},
		{Version: 2, Status: people.FollowAccepted, CreatedAt: later(1), UpdatedAt: later(2)},
		{Version: 3, Status: people.FollowNone, CreatedAt: later(1), UpdatedAt: later(3)},
		{Version: 4, Status: people.FollowAccepted, CreatedAt: later(4), UpdatedAt: later(4)},
	}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 0}, {2, 1}, {1, 1, 0, 0}, {3, 0, 3}, {0, 2, 1}} {
		follower, followed, other := aUser(region.US, "anna"), aUser(region.EU, "ben"), aUser(region.US, "carl")
		mirror := func(by people.User, f people.Follow) {
			f.FollowerID, f.FollowerPublicID, f.FolloweeID, f.FolloweePublicID = by.ID, by.PublicID, followed.ID, followed.PublicID
			w := s.NewTx(region.EU)
			w.MirrorFollow(f)
			commit(t, w)
		}
		mirror(other, states[0])
		newest := states[order[0]]
		for _, i := range order {
			mirror(follower, states[i])
			if states[i].Version > newest.Version {
				newest = states[i]
			}
			require.Equal(t, newest, mirrorOf(t, conn, followed, follower), "%v after %d", order, i)
		}
		require.Equal(t, states[0], mirrorOf(t, conn, followed, other), "the follow of another user")
		want := map[string]int64{people.FollowPending: 1} // of the other user
		want[newest.Status]++
		counts := core.Counts{}
		r := s.NewReadBatch()
		r.Counts(region.EU, []string{followed.ID}, counts)
		require.NoError(t, r.Run(t.Context()))
		require.Equal(t, want[people.FollowAccepted], counts.Of(followed.ID, people.CountFollowers), "%v", order)
		require.Equal(t, want[people.FollowPending], counts.Of(followed.ID, people.CountFollowRequests), "%v", order)
	}
}

// mirrorOf returns what the home of a followed user has of a follow, without the users.
func mirrorOf(t *testing.T, conn *pgx.Conn, followed, follower people.User) people.Follow {
	t.Helper()
	var f people.Follow
	var ids [2]string
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT status, version, created_at, updated_at, follower_public_id, followee_public_id
		FROM followers WHERE home = 'eu' AND followee_id = $1 AND follower_id = $2`, followed.ID, follower.ID).
		Scan(&f.Status, &f.Version, &f.CreatedAt, &f.UpdatedAt, &ids[0], &ids[1]))
	require.Equal(t, [2]string{follower.PublicID, followed.PublicID}, ids)
	f.CreatedAt, f.UpdatedAt = f.CreatedAt.UTC(), f.UpdatedAt.UTC()
	return f
}
