package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
)

func TestFollows(t *testing.T) {
	t.Parallel()
	b := &Builder{}
	f := b.Follow(people.Follow{
		FollowerID: "1", FollowerPublicID: "anna", FolloweeID: "2", FolloweePublicID: "bob",
		Status: people.FollowPending,
	})
	require.Equal(t, [5]string{"anna", "1", "bob", "2", "pending"},
		[5]string{f.GetFrom(), f.GetFromUserInternalId(), f.GetTo(), f.GetToUserInternalId(), f.GetStatus()})
	f = b.Block(people.Block{BlockerID: "1", BlockerPublicID: "anna", BlockedID: "2", BlockedPublicID: "bob", Status: "blocked"})
	require.Equal(t, [5]string{"anna", "1", "bob", "2", "blocked"},
		[5]string{f.GetFrom(), f.GetFromUserInternalId(), f.GetTo(), f.GetToUserInternalId(), f.GetStatus()})
	c := b.FollowCount(people.User{ID: "u", PublicID: "anna"}, core.Counts{"u": {
		people.CountFollowers: 1, people.CountFollowRequests: 2, core.CountFollowing(region.EU): 3, core.CountFollowing(region.US): 4,
	}})
	require.Equal(t, [3]int32{1, 2, 7}, [3]int32{c.GetFollowerCount(), c.GetPendingCount(), c.GetFollowingCount()},
		"followed users of all homes")
}
