package conformance

import "testing"

func communityRows() []row {
	named := func(*testing.T, *fixture) object { return object{"displayName": "x"} }
	batch := func(_ *testing.T, g *fixture) object { return object{"communityIds": []string{g.open, g.private}} }
	update := func(_ *testing.T, g *fixture) object { return object{"communityId": g.open, "description": "x"} }
	official := func(_ *testing.T, g *fixture) object { return object{"communityId": g.open, "isOfficial": true} }
	fresh := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"communityId": g.community(t)}
	}
	deleted := func(*testing.T, *fixture) object { return object{"isDeleted": true} }
	return []row{
		{procedure: "CommunityService/CreateCommunity", request: named, want: usersOnly},
		{procedure: "CommunityService/GetMyPermissions", request: aCommunity("communityId", false), want: everyone},
		{procedure: "CommunityService/GetCommunity", request: aCommunity("communityId", false), want: everyone},
		{procedure: "CommunityService/GetCommunity", name: "private", request: aCommunity("communityId", true), want: everyone},
		{procedure: "CommunityService/BatchGetCommunities", request: batch, want: everyone},
		{procedure: "CommunityService/ListCommunities", request: noFields, want: everyone},
		{procedure: "CommunityService/ListTrendingCommunities", request: noFields, want: everyone},
		{procedure: "CommunityService/ListRecommendedCommunities", request: noFields, want: usersOnly},
		{procedure: "CommunityService/ListCommunities", name: "deleted", request: deleted, want: adminsOnly},
		{procedure: "CommunityService/UpdateCommunity", request: update, want: moderators},
		{procedure: "CommunityService/UpdateCommunity", name: "official", request: official, want: adminsOnly},
		{procedure: "CommunityService/DeleteCommunity", request: fresh, want: adminsOnly},
	}
}

func memberRows() []row {
	about := func(fields func(g *fixture) object) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			return with(object{"communityId": g.open, "userIds": []string{g.user(t).UserID}}, fields(g))
		}
	}
	plain := about(func(*fixture) object { return nil })
	role := about(func(g *fixture) object {
		return object{"roles": []string{"channel-moderator"}, "userIds": []string{g.author.UserID}}
	})
	fresh := func(fields ...object) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			return object{"communityId": g.community(t, fields...)}
		}
	}
	return []row{
		{procedure: "MemberService/ListMembers", request: aCommunity("communityId", false), want: everyone},
		{
			procedure: "MemberService/ListMembers", name: "private", request: aCommunity("communityId", true),
			want: codesFor(400301, 0, 0, 400304, 0),
		},
		{procedure: "MemberService/AddMembers", request: plain, want: moderators},
		{procedure: "MemberService/RemoveMembers", request: plain, want: moderators},
		{procedure: "MemberService/BanMembers", request: plain, want: moderators},
		{procedure: "MemberService/UnbanMembers", request: plain, want: moderators},
		{procedure: "MemberService/AddMemberRoles", request: role, want: moderators},
		{procedure: "MemberService/RemoveMemberRoles", request: role, want: moderators},
		{procedure: "MemberService/JoinCommunity", request: fresh(), want: codesFor(0, 0, 0, 400304, 400300)},
		{
			procedure: "MemberService/JoinCommunity", name: "with approval", request: fresh(object{"requiresJoinApproval": true}),
			want: codesFor(400300, 0, 0, 400304, 400300),
		},
		{
			procedure: "MemberService/JoinCommunity", name: "secret", request: fresh(object{"isPublic": false}),
			want: codesFor(400400, 0, 0, 400400, 400300),
		},
		{procedure: "MemberService/LeaveCommunity", request: fresh(), want: codesFor(0, 0, 0, 0, 400300)},
	}
}

func joinRequestRows() []row {
	fresh := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"communityId": g.community(t, object{"requiresJoinApproval": true})}
	}
	several := func(_ *testing.T, g *fixture) object { return object{"communityIds": []string{g.open, g.private}} }
	asked := func(t *testing.T, g *fixture) object {
		t.Helper()
		id := g.community(t, object{"requiresJoinApproval": true})
		asker := g.user(t)
		ask(t, asker, id)
		return object{"communityId": id, "userId": asker.InternalID}
	}
	return []row{
		{procedure: "JoinRequestService/RequestJoin", request: fresh, want: codesFor(0, 400315, 400315, 400304, 400300)},
		{procedure: "JoinRequestService/CancelJoin", request: fresh, want: codesFor(400400, 400400, 400400, 400400, 400300)},
		{procedure: "JoinRequestService/GetMyJoinRequest", request: fresh, want: everyone},
		{procedure: "JoinRequestService/BatchGetMyJoinRequests", request: several, want: usersOnly},
		{procedure: "JoinRequestService/ListJoinRequests", request: fresh, want: moderators},
		{procedure: "JoinRequestService/CountJoinRequests", request: fresh, want: moderators},
		{procedure: "JoinRequestService/ApproveJoin", request: asked, want: moderators},
		{procedure: "JoinRequestService/RejectJoin", request: asked, want: moderators},
	}
}
