package conformance

import "testing"

func followRows() []row {
	author := func(_ *testing.T, g *fixture) object { return object{"userId": g.author.UserID} }
	missing := codesFor(400400, 400400, 400400, 400400, 400300)
	return []row{
		{procedure: "FollowService/FollowUser", request: aUser("userId"), want: usersOnly},
		{procedure: "FollowService/UnfollowUser", request: aUser("userId"), want: missing},
		{procedure: "FollowService/AcceptFollower", request: aUser("userId"), want: missing},
		{procedure: "FollowService/RemoveFollower", request: aUser("userId"), want: missing},
		{procedure: "FollowService/ListMyFollowers", request: noFields, want: usersOnly},
		{procedure: "FollowService/ListMyFollowing", request: noFields, want: usersOnly},
		{procedure: "FollowService/ListFollowers", request: author, want: everyone},
		{procedure: "FollowService/ListFollowing", request: author, want: everyone},
		{procedure: "FollowService/GetMyFollowInfo", request: noFields, want: usersOnly},
		{procedure: "FollowService/GetFollowInfo", request: author, want: everyone},
		{procedure: "FollowService/ListBlockedUsers", request: noFields, want: usersOnly},
		{procedure: "FollowService/BlockUser", request: aUser("userId"), want: usersOnly},
		{procedure: "FollowService/UnblockUser", request: aUser("userId"), want: missing},
	}
}
