package conformance

import "testing"

func feedRows() []row {
	wall := func(_ *testing.T, g *fixture) object { return object{"userId": g.author.UserID} }
	declined := func(_ *testing.T, g *fixture) object { return object{"communityId": g.open, "feedType": "declined"} }
	return []row{
		{procedure: "FeedService/CountUserFeed", request: wall, want: everyone},
		{procedure: "FeedService/ListUserFeed", request: wall, want: everyone},
		{procedure: "FeedService/ListPostsOfUser", request: wall, want: everyone},
		{procedure: "FeedService/ListCommunityFeed", request: aCommunity("communityId", false), want: everyone},
		{procedure: "FeedService/ListCommunityFeed", name: "private", request: aCommunity("communityId", true), want: communityReaders},
		{procedure: "FeedService/ListCommunityFeed", name: "declined", request: declined, want: moderators},
		{procedure: "FeedService/ListContentFeed", request: noFields, want: everyone},
		{procedure: "FeedService/ListFollowingFeed", request: noFields, want: usersOnly},
		{procedure: "FeedService/ListGlobalFeed", request: noFields, want: usersOnly},
		{procedure: "FeedService/ListRankedGlobalFeed", request: noFields, want: usersOnly},
	}
}
