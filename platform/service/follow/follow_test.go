package follow

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/people"
)

var (
	now     = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	earlier = now.Add(-time.Hour)
)

func followOf(status string) *people.Follow {
	return &people.Follow{FollowerID: "a", FolloweeID: "b", Status: status, CreatedAt: earlier, UpdatedAt: earlier}
}

func TestTransition(t *testing.T) {
	const none, pending, accepted = people.FollowNone, people.FollowPending, people.FollowAccepted
	for _, c := range []struct {
		name             string
		old              *people.Follow
		status           string
		created, updated time.Time
	}{
		{"first follow", nil, accepted, now, now},
		{"first request", nil, pending, now, now},
		{"accept a request", followOf(pending), accepted, earlier, now},
		{"follow again", followOf(accepted), accepted, earlier, earlier},
		{"request again", followOf(pending), pending, earlier, earlier},
		{"unfollow", followOf(accepted), none, earlier, now},
		{"cancel", followOf(pending), none, earlier, now},
		{"follow after the end", followOf(none), accepted, now, now},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := transition{
				follower: &people.User{ID: "a", PublicID: "A"}, followee: &people.User{ID: "b", PublicID: "B"}, old: c.old,
				status: c.status,
			}.apply(now)
			require.Equal(t, []string{"a", "A", "b", "B", c.status},
				[]string{f.FollowerID, f.FollowerPublicID, f.FolloweeID, f.FolloweePublicID, f.Status})
			require.Equal(t, c.created, f.CreatedAt, "created")
			require.Equal(t, c.updated, f.UpdatedAt, "updated")
		})
	}
}

func TestRequireActive(t *testing.T) {
	require.ErrorIs(t, requireActive(nil), fail.NotFound())
	require.ErrorIs(t, requireActive(followOf(people.FollowNone)), fail.NotFound())
	require.NoError(t, requireActive(followOf(people.FollowPending)))
	require.NoError(t, requireActive(followOf(people.FollowAccepted)))
}

func TestStatuses(t *testing.T) {
	require.Equal(t, []string{people.FollowPending}, statuses("pending"))
	require.Equal(t, []string{people.FollowAccepted}, statuses("accepted"))
	require.ElementsMatch(t, []string{people.FollowPending, people.FollowAccepted}, statuses("all"))
	require.ElementsMatch(t, []string{people.FollowPending, people.FollowAccepted}, statuses(""))
}

func TestFilterDeleted(t *testing.T) {
	yes, no := true, false
	users := []people.User{{ID: "owner"}, {ID: "kept"}, {ID: "gone", DeletedAt: &now}}
	for _, c := range []struct {
		name        string
		isDeleted   *bool
		rows, users []string
	}{
		{"all", nil, []string{"kept", "gone", "unread"}, []string{"owner", "kept", "gone"}},
		{"not deleted", &no, []string{"kept", "unread"}, []string{"owner", "kept"}},
		{"deleted", &yes, []string{"gone", "unread"}, []string{"owner", "gone"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, found := filterDeleted([]string{"kept", "gone", "unread"}, append([]people.User(nil), users...),
				func(id string) string { return id }, "owner", c.isDeleted)
			var ids []string
			for _, u := range found {
				ids = append(ids, u.ID)
			}
			require.Equal(t, c.rows, rows)
			require.Equal(t, c.users, ids)
		})
	}
	rows, found := filterDeleted([]string{"gone"}, append([]people.User(nil), users...), func(id string) string { return id }, "owner", &no)
	require.Empty(t, rows)
	require.Empty(t, found, "without rows the owner is not needed")
}

// TestMaxBlocks checks that the limit applies to a further block only.
func TestMaxBlocks(t *testing.T) {
	p := &pair{Request: &service.Request{Caller: &auth.Caller{UserID: "a"}}, otherID: "b"}
	require.NoError(t, p.requireBlock(people.BlockBlocked, maxBlocks-1))
	require.ErrorIs(t, p.requireBlock(people.BlockBlocked, maxBlocks), errMaxBlocks)
	p.myBlock = &people.Block{Status: people.BlockNone}
	require.ErrorIs(t, p.requireBlock(people.BlockBlocked, maxBlocks), errMaxBlocks, "a block that has ended")
	p.myBlock.Status = people.BlockBlocked
	require.NoError(t, p.requireBlock(people.BlockBlocked, maxBlocks), "again")
	require.NoError(t, p.requireBlock(people.BlockNone, maxBlocks))
}

// TestFollowEvents checks the name of the event about each change, by the follower and by the followed user.
func TestFollowEvents(t *testing.T) {
	const none, pending, accepted = people.FollowNone, people.FollowPending, people.FollowAccepted
	for _, c := range []struct {
		old                    *people.Follow
		status                 string
		byFollower, byFollowed string
	}{
		{nil, pending, "follow.requested", ""},
		{nil, accepted, "follow.created", ""},
		{followOf(none), accepted, "follow.created", ""},
		{followOf(pending), accepted, "follow.created", "follow.accepted"},
		{followOf(pending), none, "follow.requestCanceled", "follow.requestDeclined"},
		{followOf(accepted), none, "follow.unfollowed", "follow.followerDeleted"},
	} {
		change := people.FollowChange{Old: c.old, New: *followOf(c.status)}
		require.Equal(t, c.byFollower, followEvent("a", change))
		if c.byFollowed != "" {
			require.Equal(t, c.byFollowed, followEvent("b", change))
		}
	}
}

// TestBlockEndsTheFollower blocks a follower from another home: the blocker has one follower less before that home learns about the block.
func TestBlockEndsTheFollower(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	Register(w.Deps)
	blocker, blocked, other := region.NewID(region.EU), region.NewID(region.US), region.NewID(region.US)
	for _, follower := range []string{blocked, other} {
		followed := people.Follow{
			FollowerID: follower, FolloweeID: blocker, Status: people.FollowAccepted, CreatedAt: servicetest.Noon,
			UpdatedAt: servicetest.Noon,
		}
		tx := w.Store.NewTx(region.US)
		rows := tx.ChangeFollow(people.FollowChange{New: followed}, servicetest.Noon, servicetest.Noon.Add(time.Hour))
		require.NoError(t, tx.Commit(t.Context()))
		w.Deps.Outbox.Deliver(t.Context(), region.US, rows...)
	}
	followers := func() string {
		return w.Text(t, `SELECT string_agg(follower_id, ' ') FROM followers WHERE status = 'accepted' AND followee_id = '`+blocker+`'`)
	}
	require.Contains(t, followers(), blocked)
	service.HandleOutbox(w.Deps, people.TopicBlock,
		func(context.Context, people.MirroredBlock) error { return errors.New("the other home is away") })
	s := &Service{Deps: w.Deps}
	p := &pair{Request: &service.Request{Caller: &auth.Caller{UserID: blocker}}, otherID: blocked}
	require.NoError(t, s.storeBlock(t.Context(), p, people.Block{BlockerID: blocker, BlockedID: blocked, Status: people.BlockBlocked}))
	require.Equal(t, other, followers())
}
