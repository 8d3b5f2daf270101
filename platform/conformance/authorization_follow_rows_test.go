package conformance

import "testing"

func followRows() []row {
	author := func(_ *testing.T, g *grounds) object { return object{"userId": g.author.UserID} }
	missing := users(400400, 400400, 400400, 400400, 400300)
	return []row{
		{procedure: "FollowService/FollowUser", request: somebody("userId"), want: usersOnly},
		{procedure: "FollowService/UnfollowUser", request: somebody("userId"), want: missing},
		{procedure: "FollowService/AcceptFollower", request: somebody("userId"), want: missing},
		{procedure: "FollowService/RemoveFollower", request: somebody("userId"), want: missing},
		{procedure: "FollowService/ListMyFollowers", request: nothing, want: usersOnly},
		{procedure: "FollowService/ListMyFollowing", request: nothing, want: usersOnly},
		{procedure: "FollowService/ListFollowers", request: author, want: everybody},
		{procedure: "FollowService/ListFollowing", request: author, want: everybody},
		{procedure: "FollowService/GetMyFollowInfo", request: nothing, want: usersOnly},
		{procedure: "FollowService/GetFollowInfo", request: author, want: everybody},
		{procedure: "FollowService/ListBlockedUsers", request: nothing, want: usersOnly},
		{procedure: "FollowService/BlockUser", request: somebody("userId"), want: usersOnly},
		{procedure: "FollowService/UnblockUser", request: somebody("userId"), want: missing},
	}
}
