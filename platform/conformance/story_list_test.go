package conformance

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// listStories returns the ids of a community's stories.
func listStories(t *testing.T, c *apptest.Client, communityID, query string) []string {
	t.Helper()
	r := c.Do(t, http.MethodGet, storiesPath+"?targetType=community&targetId="+communityID+query, nil)
	return requireAggregate(t, r, "", storyAggregate).values("stories", "storyId")
}

// targetsQuery returns a query for targets as public clients write it: pairs of a type and an id.
func targetsQuery(pairs ...string) string {
	query := url.Values{}
	i := 0
	for pair := range slices.Chunk(pairs, 2) {
		at := "targets[" + string(rune('0'+i/10)) + string(rune('0'+i%10)) + "]"
		query.Set(at+"[targetId]", pair[1])
		query.Set(at+"[targetType]", pair[0])
		i++
	}
	return query.Encode()
}

func TestListStories(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	var ids []string
	for i := range 5 {
		ids = append(ids, newStory(t, club.boss.At(region.All()[i%3]), club.id))
	}
	backwards := slices.Clone(ids)
	slices.Reverse(backwards)
	require.Equal(t, backwards, listStories(t, club.stranger, club.id, ""))
	require.Equal(t, backwards, listStories(t, club.stranger, club.id, "&options[sortBy]=createdAt&options[orderBy]=desc"))
	require.Equal(t, ids, listStories(t, club.member, club.id, "&options[sortBy]=createdAt&options[orderBy]=asc"))
	require.Empty(t, listStories(t, club.member, club.id, "&dataType=image"))
	require.Equal(t, backwards, listStories(t, club.member, club.id, "&dataType=text&isExpired=false"))
	for order, want := range map[string][]string{"asc": ids, "desc": backwards} {
		requireStoryPages(t, club.member, storiesPath+"?targetType=community&targetId="+club.id+"&options[orderBy]="+order, want)
	}
	r := club.member.Do(t, http.MethodGet, storiesPath+"?targetType=community&targetId="+club.id, nil)
	targets := r.List(t, "storyTargets")
	require.Len(t, targets, 1)
	requireResource(t, "storyTargets.0", storyTargetFields, targets[0])
	require.Equal(t, getStory(t, club.boss, ids[4])["expiresAt"], targets[0].(object)["lastStoryExpiresAt"])
	get := func(name, query string, want failure) attempt {
		return attempt{name, club.member, http.MethodGet, storiesPath + query, nil, want}
	}
	requireAttempts(t, []attempt{
		get("no target", "?targetType=community", invalid("targetId")),
		get("no type", "?targetId="+club.id, invalid("targetType")),
		get("another type", "?targetType=content&targetId="+club.id, invalid("targetType")),
		get("nothing there", "?targetType=community&targetId="+unknownID, notFound),
		get("unknown user", "?targetType=user&targetId=unknown-user", notFound),
		get("limit of 0", "?targetType=community&targetId="+club.id+"&options[limit]=0", invalid("options.limit")),
		get("limit of 101", "?targetType=community&targetId="+club.id+"&options[limit]=101", invalid("options.limit")),
		get("limit of 100", "?targetType=community&targetId="+club.id+"&options[limit]=100", failure{}),
		get("wrong token", "?targetType=community&targetId="+club.id+"&options[token]=x", invalid("options.token")),
		get("wrong order", "?targetType=community&targetId="+club.id+"&options[orderBy]=up", invalid("options.orderBy")),
		get("wrong sort", "?targetType=community&targetId="+club.id+"&options[sortBy]=name", invalid("options.sortBy")),
		get("expired ones", "?targetType=community&targetId="+club.id+"&isExpired=true", notAllowed),
		get("count of nothing", "/count?targetType=community&targetId="+unknownID, notFound),
	})
	require.Equal(t, 5, countStories(t, club.stranger, club.id))
}

func countStories(t *testing.T, c *apptest.Client, communityID string) int {
	t.Helper()
	return c.Do(t, http.MethodGet, storiesPath+"/count?targetType=community&targetId="+communityID, nil).OK(t).Int(t, "count")
}

// requireStoryPages reads a list in pages of two, forwards and backwards.
func requireStoryPages(t *testing.T, c *apptest.Client, path string, want []string) {
	t.Helper()
	r := c.Do(t, http.MethodGet, path+"&options[limit]=2", nil).OK(t)
	pages := [][]string{r.Strings(t, "stories", "storyId")}
	all := slices.Clone(pages[0])
	for r.String(t, "paging.next") != "" {
		r = c.Do(t, http.MethodGet, path+"&options[token]="+url.QueryEscape(r.String(t, "paging.next")), nil).OK(t)
		pages = append(pages, r.Strings(t, "stories", "storyId"))
		all = append(all, pages[len(pages)-1]...)
	}
	require.Equal(t, want, all)
	for i := len(pages) - 2; i >= 0; i-- {
		r = c.Do(t, http.MethodGet, path+"&options[token]="+url.QueryEscape(r.String(t, "paging.previous")), nil).OK(t)
		require.Equal(t, pages[i], r.Strings(t, "stories", "storyId"))
	}
	require.Empty(t, r.String(t, "paging.previous"))
}

func TestListStoriesByTargets(t *testing.T) {
	t.Parallel()
	club, other := newClub(t), newClub(t)
	hidden := newCommunity(t, other.boss, object{"isPublic": false, "isDiscoverable": false})
	newStory(t, other.boss, hidden)
	var want []string
	for _, in := range []string{club.id, other.id, club.id} {
		boss := club.boss
		if in == other.id {
			boss = other.boss
		}
		want = append(want, newStory(t, boss, in))
	}
	want = append(want, newWallStory(t, club.member))
	slices.Reverse(want)
	query := targetsQuery("community", club.id, "community", hidden, "user", club.member.UserID, "community", other.id, "user",
		"unknown-user", "community", club.id)
	r := club.stranger.Do(t, http.MethodGet, "/api/v4/stories-by-targets?"+query, nil)
	a := requireAggregate(t, r, "", storyAggregate)
	require.Equal(t, want, a.values("stories", "storyId"))
	require.Equal(t, []string{club.id, club.member.UserID, other.id}, r.Strings(t, "storyTargets", "targetPublicId"))
	require.NotContains(t, a.values("communities", "communityId"), hidden)
	requireStoryPages(t, club.stranger, "/api/v4/stories-by-targets?"+query, want)
	r = club.stranger.Do(t, http.MethodGet, "/api/v4/stories-by-targets?options[orderBy]=asc&"+query, nil).OK(t)
	slices.Reverse(want)
	require.Equal(t, want, r.Strings(t, "stories", "storyId"))
	var many []string
	for range 10 {
		many = append(many, "community", club.id)
	}
	for _, path := range []string{"/api/v4/stories-by-targets?", storiesPath + "/seen?"} {
		club.stranger.Do(t, http.MethodGet, path+targetsQuery(many...), nil).OK(t)
		requireFailure(t, invalid("targets"), club.stranger.Do(t, http.MethodGet, path+targetsQuery(append(many, "community", other.id)...), nil))
		requireFailure(t, invalid("targets"), club.stranger.Do(t, http.MethodGet, path, nil))
		requireFailure(t, invalid("targets"), club.stranger.Do(t, http.MethodGet, path+"targets[0][targetId]="+club.id, nil))
		requireFailure(t, invalid("targets"), club.stranger.Do(t, http.MethodGet, path+targetsQuery("content", club.id), nil))
		requireFailure(t, invalid("targets"), club.stranger.Do(t, http.MethodGet,
			path+targetsQuery("community", club.id)+"&targets[1][targetId]=x", nil))
	}
}

// ageStories moves the times of a network's stories into the past.
func ageStories(t *testing.T, n *apptest.Network, by time.Duration) {
	t.Helper()
	conn := connectTo(t, n)
	for _, sql := range []string{
		`UPDATE stories SET created_at = created_at - $1::interval, updated_at = updated_at - $1::interval, expires_at = expires_at - $1::interval`,
		`UPDATE story_targets SET last_expires_at = last_expires_at - $1::interval`,
		`UPDATE story_seen SET seen_expires_at = seen_expires_at - $1::interval`,
	} {
		_, err := conn.Exec(t.Context(), sql, by)
		require.NoError(t, err)
	}
}

// TestStoriesEnd checks that an expired story and its comments are hidden, although it still counts, and that users
// who may view all stories find it.
func TestStoriesEnd(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	boss, member := n.NewUser(t, region.EU, "boss"), n.NewUser(t, region.US, "member")
	id := newCommunity(t, boss, object{"userIds": []string{member.UserID}})
	old := newStory(t, boss, id)
	comment := newStoryComment(t, member, old)
	wall := newWallStory(t, boss)
	ageStories(t, n, 23*time.Hour)
	young := newStory(t, boss, id)
	require.Equal(t, []string{young, old}, listStories(t, member, id, ""))
	ageStories(t, n, time.Hour)
	like := object{"referenceType": "story", "referenceId": old, "reactionName": "like"}
	say := object{"referenceType": "story", "referenceId": old, "data": object{"text": "x"}}
	for _, c := range []*apptest.Client{boss, member} {
		require.Equal(t, []string{young}, listStories(t, c, id, ""))
		require.Equal(t, []string{young}, listStories(t, c, id, "&options[orderBy]=asc"))
		requireFailure(t, notAllowed, c.Do(t, http.MethodGet, storiesPath+"?isExpired=true&targetType=community&targetId="+id, nil))
		requireFailure(t, notFound, c.Do(t, http.MethodGet, storiesPath+"/"+old, nil))
		requireFailure(t, notFound, c.Do(t, http.MethodGet, storiesPath+"/"+wall, nil))
		requireFailure(t, notFound, c.Do(t, http.MethodDelete, storiesPath+"/"+old, nil))
		requireFailure(t, notFound, c.Do(t, http.MethodPost, storiesPath+"/"+old+"/flags", nil))
		requireFailure(t, notFound, c.Do(t, http.MethodDelete, storiesPath+"/"+old+"/flags", nil))
		requireFailure(t, notFound, c.Do(t, http.MethodDelete, storiesPath+"/"+old+"/flags/all", nil))
		requireFailure(t, notFound, c.Do(t, http.MethodGet, "/api/v3/comments/"+comment, nil))
		requireFailure(t, notFound, c.Do(t, http.MethodGet, "/api/v3/comments?referenceType=story&referenceId="+old, nil))
		requireFailure(t, notFound, c.Do(t, http.MethodPost, "/api/v3/comments", say))
		requireFailure(t, notFound, c.Do(t, http.MethodPost, "/api/v2/reactions", like))
		require.Equal(t, 2, countStories(t, c, id), "counted on")
	}
	archivist := n.Admin(region.SG)
	require.Equal(t, []string{old}, listStories(t, archivist, id, "&isExpired=true"))
	require.Equal(t, []string{young}, listStories(t, archivist, id, ""))
	require.InDelta(t, 1, getStory(t, archivist, old)["commentsCount"], 0)
	archivist.Do(t, http.MethodDelete, storiesPath+"/"+old+"?permanent=true", nil).OK(t)
	require.Empty(t, listStories(t, archivist, id, "&isExpired=true"))
	require.Equal(t, 1, countStories(t, member, id))
}
