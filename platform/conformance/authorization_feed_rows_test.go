package conformance

import "testing"

func feedRows() []row {
	wall := func(_ *testing.T, g *grounds) object { return object{"userId": g.author.UserID} }
	declined := func(_ *testing.T, g *grounds) object { return object{"communityId": g.open, "feedType": "declined"} }
	return []row{
		{procedure: "FeedService/ListUserFeed", request: wall, want: everybody},
		{procedure: "FeedService/ListCommunityFeed", request: in("communityId", false), want: everybody},
		{procedure: "FeedService/ListCommunityFeed", name: "private", request: in("communityId", true), want: readable},
		{procedure: "FeedService/ListCommunityFeed", name: "declined", request: declined, want: moderators},
		{procedure: "FeedService/ListContentFeed", request: nothing, want: everybody},
		{procedure: "FeedService/ListFollowingFeed", request: nothing, want: usersOnly},
		{procedure: "FeedService/ListGlobalFeed", request: nothing, want: usersOnly},
		{procedure: "FeedService/ListRankedGlobalFeed", request: nothing, want: usersOnly},
	}
}
