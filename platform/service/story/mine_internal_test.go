package story

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
)

// TestVisibleTargets leaves out a private community that the caller was just removed from, and what was read of it.
func TestVisibleTargets(t *testing.T) {
	t.Parallel()
	rows := []content.StoryTarget{
		{TargetID: "left", TargetType: inCommunity}, {TargetID: "mine", TargetType: inCommunity}, {TargetID: "wall", TargetType: onWall},
	}
	k := view.Rows{
		Communities: []communities.Community{{ID: "left"}, {ID: "mine"}},
		Members: []communities.Member{
			{CommunityID: "left", UserID: "me", State: communities.StateLeft}, {CommunityID: "mine", UserID: "me", State: communities.StateMember},
		},
		Users: []people.User{{ID: "wall"}},
	}
	left := visibleTargets(servicetest.User(t, "me"), rows, &k)
	require.Equal(t, []string{"mine", "wall"}, service.Map(left, func(row content.StoryTarget) string { return row.TargetID }))
	require.Equal(t, []string{"wall"}, k.UserIDs)
	require.Equal(t, []string{"mine"}, service.Map(k.Communities, func(c communities.Community) string { return c.ID }))
	require.Equal(t, []string{"mine"}, service.Map(k.Members, func(m communities.Member) string { return m.CommunityID }))
}
