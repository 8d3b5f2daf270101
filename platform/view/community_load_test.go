package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestUsersOfCommunityResponse(t *testing.T) {
	t.Parallel()
	l := &communityLoader{CommunityRows: CommunityRows{
		Communities: []communities.Community{{ID: "c", CreatorID: "creator"}, {ID: "d", CreatorID: "creator"}},
		Members:     []communities.Member{{UserID: "member"}, {UserID: "creator"}}, Viewer: &people.User{ID: "me"},
	}}
	require.Equal(t, []string{"creator", "member", "me"}, l.wantedUsers().list())
	l.OnlyMembers = true
	require.Equal(t, []string{"creator", "member"}, l.wantedUsers().list())
}

func TestMembershipOfViewerInCommunity(t *testing.T) {
	t.Parallel()
	l := &communityLoader{CommunityRows: CommunityRows{
		Viewer: &people.User{ID: "me", PublicID: "my-id"},
		Members: []communities.Member{
			{CommunityID: "c", UserID: "other", State: communities.StateBanned},
			{CommunityID: "c", UserID: "me", State: communities.StateMember},
		},
	}}
	l.mine = []communities.Member{
		{CommunityID: "c", UserID: "me", State: "left"},
		{CommunityID: "d", UserID: "me", State: communities.StateBanned},
	}
	require.True(t, l.membership("c").IsMember(), "what the operation knows is newer than what was read")
	require.True(t, l.membership("d").IsBanned())
	require.Equal(t, &communities.Member{CommunityID: "e", UserID: "me", UserPublicID: "my-id"}, l.membership("e"))
	l.Viewer = nil
	require.Nil(t, l.membership("c"))
}

func TestBuildCommunityResponse(t *testing.T) {
	t.Parallel()
	reviewing := func(a *plazav1.CommunityResponse) map[string]int32 {
		counts := map[string]int32{}
		for _, f := range a.GetFeeds() {
			if f.GetFeedType() == "reviewing" {
				counts[f.GetTargetId()] = f.GetPostCount()
			}
		}
		return counts
	}
	rows := CommunityRows{
		Communities: []communities.Community{{ID: "moderated", HasFlaggedPost: true}, {ID: "joined", HasFlaggedPost: true}},
		Viewer:      &people.User{ID: "me"}, Users: []people.User{{ID: "me"}, {ID: "unrelated"}},
		Members: []communities.Member{
			{CommunityID: "joined", UserID: "me", State: communities.StateMember},
			{CommunityID: "joined", UserID: "other", State: communities.StateMember},
		},
	}
	counts := core.Counts{"moderated": {core.CountReviewing: 2}, "joined": {core.CountReviewing: 3}}
	l := &communityLoader{
		CommunityRows: rows, builder: &Builder{}, counts: counts, viewer: viewerOf(confirmed(t, "me")),
		mine: []communities.Member{moderatorOf("moderated", "me")},
	}
	a := l.build(t.Context())
	require.Equal(t, []string{"me"}, mapList(a.GetUsers(), (*plazav1.User).GetPrivateId))
	require.Equal(t, []bool{true, false}, mapList(a.GetCommunities(), (*plazav1.Community).GetHasFlaggedPost))
	require.Equal(t, map[string]int32{"moderated": 2, "joined": 0}, reviewing(a))
	memberships := func(a *plazav1.CommunityResponse) []string {
		return mapList(a.GetCommunityUsers(), func(u *plazav1.CommunityUser) string { return u.GetCommunityId() + " " + u.GetUserInternalId() })
	}
	require.Equal(t, []string{"moderated me", "joined me", "joined other"}, memberships(a), "the viewer's first, each once")

	l.OnlyMembers = true
	require.Equal(t, []string{"joined me", "joined other"}, memberships(l.build(t.Context())))

	l.Viewer, l.viewer = nil, viewerOf(asAdmin(t))
	l.OnlyMembers = false
	a = l.build(t.Context())
	require.Equal(t, []string{"joined me", "joined other"}, memberships(a), "administrators have no membership")
	require.Equal(t, map[string]int32{"moderated": 2, "joined": 3}, reviewing(a))
	require.False(t, a.GetCommunities()[1].GetIsJoined())
}

func TestCommunityPages(t *testing.T) {
	t.Parallel()
	a := &plazav1.CommunityResponse{}
	fillLists(t, a.ProtoReflect())
	paging := &plazav1.Paging{Next: "next"}
	communities, members := CommunityPage(a, paging), Fill(a, &plazav1.ListMembersResponse{Paging: paging})
	requireFilled(t, communities.ProtoReflect())
	requireFilled(t, members.ProtoReflect())
	require.Equal(t, "next", communities.GetPaging().GetNext())
	require.Equal(t, "next", members.GetPaging().GetNext())
}

func TestPermissionsOfCommunityUser(t *testing.T) {
	t.Parallel()
	m := (&Builder{}).CommunityUser(moderatorOf("c", "m"))
	require.Contains(t, m.GetPermissions(), string(auth.ModeratePostAndComment))
	m = (&Builder{}).CommunityUser(communities.Member{State: communities.StateMember, Roles: []string{auth.RoleCommunityMember}})
	require.Empty(t, m.GetPermissions())
}
