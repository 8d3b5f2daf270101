package story

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
)

// TestVisibleTargets leaves out a private community that the caller was just removed from, and what was read of it.
func TestVisibleTargets(t *testing.T) {
	t.Parallel()
	rows := []store.StoryTarget{
		{TargetID: "left", TargetType: inCommunity}, {TargetID: "mine", TargetType: inCommunity}, {TargetID: "wall", TargetType: onWall},
	}
	k := view.Rows{
		Communities: []store.Community{{ID: "left"}, {ID: "mine"}},
		Members: []store.Member{
			{CommunityID: "left", UserID: "me", State: store.StateLeft}, {CommunityID: "mine", UserID: "me", State: store.StateMember},
		},
		Users: []store.User{{ID: "wall"}},
	}
	left := visibleTargets(servicetest.User(t, "me"), rows, &k)
	require.Equal(t, []string{"mine", "wall"}, service.Map(left, func(row store.StoryTarget) string { return row.TargetID }))
	require.Equal(t, []string{"wall"}, k.UserIDs)
	require.Equal(t, []string{"mine"}, service.Map(k.Communities, func(c store.Community) string { return c.ID }))
	require.Equal(t, []string{"mine"}, service.Map(k.Members, func(m store.Member) string { return m.CommunityID }))
}
