package conformance

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	followingFeedPath = "/api/v1/me/following-feeds"
	globalFeedPath    = "/api/v4/me/global-feeds"
	rankedFeedPath    = "/api/v5/me/global-feeds"
)

// feedPage reads a page of the following feed.
func feedPage(t *testing.T, c *apptest.Client, query url.Values) *apptest.Response {
	t.Helper()
	r := c.Do(t, http.MethodGet, followingFeedPath+"?"+query.Encode(), nil).OK(t)
	for _, direction := range []string{"next", "previous"} {
		require.LessOrEqual(t, len(r.String(t, "paging."+direction)), 100)
	}
	return r
}

// walkFeed reads the following feed to its end and back, and checks that both directions show the same pages.
func walkFeed(t *testing.T, c *apptest.Client, sortBy string, limit int, between func()) [][]string {
	t.Helper()
	read := func(query url.Values, direction string) (pages [][]string, last *apptest.Response) {
		query.Set("sortBy", sortBy)
		for {
			last = feedPage(t, c, query)
			pages = append(pages, last.Strings(t, "posts", "postId"))
			require.LessOrEqual(t, len(pages), 100, "the feed does not end")
			token := last.String(t, "paging."+direction)
			if token == "" {
				return pages, last
			}
			between()
			query.Set("token", token)
			query.Del("limit")
		}
	}
	pages, last := read(url.Values{"limit": {strconv.Itoa(limit)}}, "next")
	previous := last.String(t, "paging.previous")
	if len(pages) == 1 {
		require.Empty(t, previous)
		return pages
	}
	back, first := read(url.Values{"token": {previous}}, "previous")
	require.NotEmpty(t, first.String(t, "paging.next"))
	slices.Reverse(back)
	require.Equal(t, pages[:len(pages)-1], back, "the way back shows the same pages")
	return pages
}

func TestFollowingFeed(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	stranger := newUser(t, region.EU, "stranger")
	require.Empty(t, feedPage(t, us, nil).List(t, "posts"))
	joined := newCommunity(t, eu)
	private := newCommunity(t, sg, object{"isPublic": false})
	join(t, joined, us, stranger)
	sg.Do(t, http.MethodPost, "/api/v3/communities/"+private+"/users", object{"userIds": []string{us.UserID}}).OK(t)
	elsewhere := newCommunity(t, stranger)
	follow(t, us, eu, sg)
	var want []string
	add := func(id string) { want = append(want, id) }
	for range 3 {
		add(newWallPost(t, us))
		add(newWallPost(t, eu))
		add(newWallPost(t, sg, object{"attachments": attached(t, sg.Network, "image")}))
		add(newPost(t, stranger, joined))
		add(newPost(t, sg, private))
		newWallPost(t, stranger)
		newPost(t, stranger, elsewhere)
		gone := newPost(t, eu, joined)
		eu.Do(t, http.MethodDelete, "/api/v4/posts/"+gone, nil).OK(t)
	}
	newest := reversed(want)
	newComment(t, sg, newest[0])

	for _, limit := range []int{1, 4, 5, 15, 100} {
		pages := walkFeed(t, us, "lastCreated", limit, func() {})
		require.Equal(t, newest, slices.Concat(pages...), "limit %d", limit)
		ranked := walkFeed(t, us, "customRanking", limit, func() {})
		require.ElementsMatch(t, newest, slices.Concat(ranked...), "limit %d", limit)
		require.Len(t, ranked, (len(newest)+limit-1)/limit)
	}
	page := feedPage(t, us, url.Values{"limit": {"100"}})
	requireAggregate(t, page, "", communityFeedAggregate)
	require.ElementsMatch(t, []string{
		"posts", "postChildren", "comments", "users", "files", "communities", "communityUsers", "categories",
		"paging",
	},
		keysOf(t, page, ""))
	require.ElementsMatch(t, []string{"next", "previous"}, keysOf(t, page, "paging"))
	require.Len(t, page.List(t, "postChildren"), 3)
	require.Len(t, page.List(t, "comments"), 1)
	require.Equal(t, newest, feedPage(t, us.At(region.SG), url.Values{"limit": {"100"}, "sortBy": {"lastCreated"}}).Strings(t, "posts",
		"postId"))

	us.Do(t, http.MethodDelete, followingPath+"/"+eu.UserID, nil).OK(t)
	us.Do(t, http.MethodDelete, "/api/v3/communities/"+joined+"/leave", nil).OK(t)
	left := feedPage(t, us, url.Values{"limit": {"100"}, "sortBy": {"lastCreated"}}).Strings(t, "posts", "postId")
	require.Len(t, left, 9, "own wall, one followed wall and one community")
	sg.Do(t, http.MethodDelete, "/api/v3/communities/"+private, nil).OK(t)
	require.Len(t, feedPage(t, us, url.Values{"limit": {"100"}}).List(t, "posts"), 6, "without the deleted community")

	for _, wrong := range []struct{ query, field string }{
		{"sortBy=firstCreated", "sortBy"},
		{"limit=0", "limit"},
		{"limit=101", "limit"},
		{"limit=many", "limit"},
		{"token=x", "token"},
		{"token=" + strings.Repeat("A", 100), "token"},
		{"token=" + strings.Repeat("A", 101), "token"},
		{"sortBy=lastCreated&token=" + feedPage(t, us, url.Values{"limit": {"1"}}).String(t, "paging.next"), "token"},
		{"token=" + feedPage(t, us, url.Values{"limit": {"1"}, "sortBy": {"lastCreated"}}).String(t, "paging.next"), "token"},
	} {
		requireFailure(t, invalid(wrong.field), us.Do(t, http.MethodGet, followingFeedPath+"?"+wrong.query, nil))
	}
	requireFailure(t, unauthorized, apptest.Shared(t).Anonymous(region.EU).Do(t, http.MethodGet, followingFeedPath, nil))
}

func keysOf(t *testing.T, r *apptest.Response, at string) []string {
	t.Helper()
	o, ok := r.JSON(t).(map[string]any)
	require.True(t, ok)
	if at != "" {
		o, ok = o[at].(map[string]any)
		require.True(t, ok)
	}
	var keys []string
	for key := range o {
		keys = append(keys, key)
	}
	return keys
}

// TestCustomRanking creates more posts than one window holds, while other users react, comment and post between
// pages. Every post appears once, on full pages, in both directions.
func TestCustomRanking(t *testing.T) {
	t.Parallel()
	reader, author, fan := newUserPerRegion(t, apptest.Shared(t))
	follow(t, reader, author)
	follow(t, fan, author)
	var want []string
	for range 230 {
		want = append(want, newWallPost(t, author))
	}
	loved := want[120]
	for _, c := range []*apptest.Client{author, fan} {
		c.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceType": "post", "referenceId": loved, "reactionName": "like"}).OK(t)
	}
	newComment(t, fan, want[100])
	first := feedPage(t, reader, url.Values{"limit": {"20"}}).Strings(t, "posts", "postId")
	require.ElementsMatch(t, []string{loved, want[100]}, first[:2], "what people answer to goes first")

	n := 0
	pages := walkFeed(t, reader, "customRanking", 20, func() {
		n++
		newWallPost(t, author)
		newComment(t, fan, want[n])
		fan.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceType": "post", "referenceId": want[229-n], "reactionName": "wow"}).OK(t)
	})
	require.ElementsMatch(t, want, slices.Concat(pages...))
	for _, page := range pages[:len(pages)-1] {
		require.Len(t, page, 20)
	}
	require.NotContains(t, slices.Concat(pages[10:]...), loved)
}

func TestFeedsHideTheBlocked(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	community := newCommunity(t, sg)
	join(t, community, us, eu)
	follow(t, us, eu, sg)
	follow(t, eu, us, sg)
	mine, theirs, others := newPost(t, us, community), newPost(t, eu, community), newPost(t, sg, community)
	wall := newWallPost(t, eu)
	onWall := eu.Do(t, http.MethodPost, "/api/v4/posts",
		object{"targetType": "user", "targetId": sg.UserID, "data": object{"text": "hello"}}).OK(t).
		String(t, "posts.0.postId")
	ids := func(c *apptest.Client, path string) []string {
		return c.Do(t, http.MethodGet, path, nil).OK(t).Strings(t, "posts", "postId")
	}
	paths := []string{followingFeedPath, followingFeedPath + "?sortBy=lastCreated", globalFeedPath, rankedFeedPath, "/api/v3/global-feeds"}
	for _, path := range paths {
		require.ElementsMatch(t, []string{mine, theirs, others, wall, onWall}, ids(us, path), path)
	}
	block(t, eu, us)
	for _, path := range paths {
		require.ElementsMatch(t, []string{mine, others}, ids(us, path), path)
		require.ElementsMatch(t, []string{theirs, others, wall, onWall}, ids(eu, path), path)
		require.ElementsMatch(t, []string{mine, theirs, others, onWall}, ids(sg, path), path)
	}
	require.ElementsMatch(t, []string{mine, theirs, others}, us.Do(t, http.MethodGet, "/api/v3/community-feeds/"+community, nil).OK(t).
		Strings(t, "data.posts", "postId"), "the community feed shows all authors")
}

func TestGlobalFeed(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	us, eu, sg := newUserPerRegion(t, n)
	public, private := newCommunity(t, eu), newCommunity(t, eu, object{"isPublic": false})
	follow(t, us, sg)
	mine, followed, others := newWallPost(t, us), newWallPost(t, sg), newWallPost(t, eu)
	inPublic, _ := newPost(t, eu, public), newPost(t, eu, private)
	picture := newWallPost(t, us, object{"attachments": attached(t, n, "image")})
	ids := func(path string) []string {
		r := us.Do(t, http.MethodGet, path, nil).OK(t)
		require.Equal(t, r.Strings(t, "data.posts", "postId"), r.Strings(t, "posts", "postId"))
		require.Equal(t, "success", r.String(t, "status"))
		requireAggregate(t, r, "data.", communityFeedAggregate)
		return r.Strings(t, "posts", "postId")
	}
	mixed := newWallPost(t, us, object{"attachments": attached(t, n, "image", "file")})
	for _, path := range []string{globalFeedPath, "/api/v3/global-feeds", rankedFeedPath} {
		require.ElementsMatch(t, []string{mixed, picture, followed, mine}, ids(path), path)
		require.Equal(t, []string{picture}, ids(path+"?dataTypes[]=image"), path)
		require.Equal(t, []string{picture}, ids(path+"?dataTypes[]=image&includeMixedStructure=false"), path)
		require.ElementsMatch(t, []string{mixed, picture}, ids(path+"?dataTypes[]=image&includeMixedStructure=true"), path)
	}
	us.Do(t, http.MethodDelete, "/api/v4/posts/"+mixed, nil).OK(t)
	require.Equal(t, []string{picture, mine}, ids("/api/v3/global-feeds?showOnlyMyFeed=true"))
	l := listing{by: us, path: globalFeedPath, list: "posts", id: "postId"}
	l.requirePages(t, 1, []string{picture, followed, mine})
	l.requireLimits(t)
	listing{by: us, path: rankedFeedPath, list: "posts", id: "postId"}.requireLimits(t)

	set := func(fields object) {
		n.Admin(region.US).Do(t, http.MethodPut, socialPath, fields).OK(t)
	}
	set(object{"showEveryonePost": true})
	require.ElementsMatch(t, []string{picture, followed, mine, others, inPublic}, ids(globalFeedPath))
	require.ElementsMatch(t, []string{picture, followed, mine, others, inPublic}, ids(rankedFeedPath))
	set(object{"userPrivacySetting": "private"})
	for _, path := range []string{globalFeedPath, rankedFeedPath} {
		require.ElementsMatch(t, []string{picture, followed, mine, inPublic}, ids(path), "walls are for followers")
	}
	set(object{"userPrivacySetting": "public"})
	block(t, eu, us)
	require.ElementsMatch(t, []string{picture, followed, mine}, ids(globalFeedPath))
	set(object{"showEveryonePost": false, "showFollowingPost": false})
	require.ElementsMatch(t, []string{picture, mine}, ids(globalFeedPath))
	set(object{"showOnlyMyFeed": true, "showFollowingPost": true})
	require.ElementsMatch(t, []string{picture, mine}, ids(globalFeedPath))
	set(object{"showOnlyMyFeed": false, "showMyPost": false})
	require.ElementsMatch(t, []string{followed}, ids(globalFeedPath))
	inClub := newPost(t, sg, newCommunity(t, sg, object{"userIds": []string{us.UserID}}))
	require.ElementsMatch(t, []string{followed, inClub}, ids(globalFeedPath))
	set(object{"showCommunityPost": false})
	require.ElementsMatch(t, []string{followed}, ids(globalFeedPath))
	require.Eventually(t, func() bool {
		return !us.At(region.SG).Do(t, http.MethodGet, socialPath, nil).OK(t).Bool(t, "globalFeed.showMyPost")
	}, apptest.Patience, 10*time.Millisecond)
}
