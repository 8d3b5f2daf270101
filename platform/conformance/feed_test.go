package conformance

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// TestFeedAggregates fills a feed with everything that a post can refer to and reads both feeds of the contract.
func TestFeedAggregates(t *testing.T) {
	t.Parallel()
	boss, writer, reader := newUser(t, region.EU, "boss"), newUser(t, region.US, "writer"), newUser(t, region.SG, "reader")
	category := newCategory(t, admin(t), "category")
	community := newCommunity(t, boss, object{"categoryIds": []string{category}, "userIds": []string{writer.UserID}})
	fields := object{
		"attachments": photos(t, 2), "mentionees": []object{{"type": "user", "userIds": []string{reader.UserID, "unknown-user"}}},
	}
	var inCommunity, onWall []string
	for range 3 {
		inCommunity = append(inCommunity, newPost(t, writer, community, fields))
		onWall = append(onWall, newWallPost(t, writer, fields, object{"targetId": boss.UserID}))
	}
	for _, id := range append(inCommunity, onWall...) {
		for range 3 {
			newComment(t, reader, id)
		}
	}
	for _, code := range region.All() {
		r := reader.At(code).Do(t, http.MethodGet, "/api/v3/user-feeds/"+boss.UserID, nil)
		requireFeed(t, r, userFeedAggregate, reversed(onWall), []string{boss.UserID, writer.UserID, reader.UserID})
		r = reader.At(code).Do(t, http.MethodGet, "/api/v3/community-feeds/"+community, nil)
		a := requireFeed(t, r, communityFeedAggregate, reversed(inCommunity), []string{writer.UserID, reader.UserID, boss.UserID})
		require.Equal(t, []string{category}, a.values("categories", "categoryId"))
		require.Equal(t, []string{community}, a.values("communities", "communityId"))
		require.Equal(t, false, a.one("communities")["isJoined"])
		require.Contains(t, a.values("communityUsers", "userId"), writer.UserID)
		requireAggregate(t, reader.At(code).Do(t, http.MethodGet, "/api/v5/posts?targetId="+community, nil), "", postAggregate)
	}
}

func requireFeed(t *testing.T, r *apptest.Response, names, posts, users []string) *aggregate {
	t.Helper()
	a := requireAggregate(t, r, "data.", names)
	require.Equal(t, "success", r.String(t, "status"))
	require.Equal(t, r.Get(t, "data.paging"), r.Get(t, "paging"))
	require.Equal(t, posts, a.values("posts", "postId"))
	require.ElementsMatch(t, users, a.values("users", "userId"))
	require.Len(t, a.lists["postChildren"], 6)
	require.Len(t, a.lists["comments"], 9)
	for _, p := range a.lists["posts"] {
		require.InDelta(t, 3, p["commentsCount"], 0)
		require.Len(t, p["comments"], 3)
		require.Len(t, p["children"], 2)
	}
	return a
}

// TestEmptyFeeds checks that empty feeds have every collection too.
func TestEmptyFeeds(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	community := newCommunity(t, boss)
	a := requireAggregate(t, boss.Do(t, http.MethodGet, "/api/v3/user-feeds/"+boss.UserID, nil), "data.", userFeedAggregate)
	require.Empty(t, a.lists["posts"])
	a = requireAggregate(t, boss.Do(t, http.MethodGet, "/api/v3/community-feeds/"+community, nil), "data.", communityFeedAggregate)
	require.Empty(t, a.lists["posts"])
	require.Equal(t, community, a.one("communities")["communityId"])
}

func TestFeedLimits(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	community := newCommunity(t, boss)
	for path, id := range map[string]string{"/api/v3/user-feeds/": boss.UserID, "/api/v3/community-feeds/": community} {
		t.Run(path, func(t *testing.T) {
			l := listing{by: boss, path: path + id, list: "data.posts", id: "postId"}
			l.requireLimits(t)
			var attempts []attempt
			get := func(name, query string, want failure) {
				attempts = append(attempts, attempt{name, boss, http.MethodGet, path + id + "?" + query, nil, want})
			}
			get("limit of 1", "limit=1", failure{})
			get("limit of 100", "limit=100", failure{})
			get("limit of 0", "limit=0", invalid("limit"))
			get("limit of 101", "limit=101", invalid("limit"))
			get("garbage token", "token=garbage", failure{status: 422, code: 500000, message: "Parameters validation error!"})
			get("1 data type", "dataTypes[]=video", failure{})
			get("4 data types", "dataTypes[]=video&dataTypes[]=image&dataTypes[]=file&dataTypes[]=liveStream", failure{})
			get("5 data types", "dataTypes[]=video&dataTypes[]=image&dataTypes[]=file&dataTypes[]=liveStream&dataTypes[]=image",
				invalid("dataTypes"))
			get("other data type", "dataTypes[]=text", invalid("dataTypes[0]"))
			get("empty data type", "dataTypes[]=", invalid("dataTypes[0]"))
			get("indexed data types", "dataTypes[0]=video&dataTypes[1]=image", failure{})
			get("other sort", "sortBy=customRanking", invalid("sortBy"))
			get("hasFlag of null", "hasFlag=null", failure{})
			get("invalid hasFlag", "hasFlag=1x", invalid("hasFlag"))
			get("unknown parameter", "colour=red", failure{})
			requireAttempts(t, append(attempts,
				attempt{"unknown", boss, http.MethodGet, path + "unknown-user", nil, notFound},
				attempt{"unknown id", boss, http.MethodGet, path + unknownID, nil, notFound},
				attempt{"id of 900", boss, http.MethodGet, path + strings.Repeat("x", 900), nil, notFound},
				attempt{
					"id of 901", boss, http.MethodGet, path + strings.Repeat("x", 901), nil,
					failure{status: 422, code: 500000, message: "Parameters validation error!"},
				},
				attempt{"anonymous", apptest.Shared(t).Anonymous(region.EU), http.MethodGet, path + id, nil, unauthorized}))
		})
	}
	requireAttempts(t, []attempt{
		{"other feed type", boss, http.MethodGet, "/api/v3/community-feeds/" + community + "?feedType=lost", nil, invalid("feedType")},
	})
}

// TestFeedDefaultPageSize checks the page size for requests without a limit.
func TestFeedDefaultPageSize(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	for range 11 {
		newWallPost(t, boss)
	}
	l := listing{by: boss, path: "/api/v3/user-feeds/" + boss.UserID, list: "data.posts", id: "postId"}
	first := l.page(t, nil)
	require.Len(t, l.ids(t, first), 10)
	require.Len(t, l.walk(t, first, "next"), 2)
}
