package conformance

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	trendingPath    = communitiesPath + "/top-trending"
	recommendedPath = communitiesPath + "/recommended"
)

// ranking returns those of ids that a ranked list contains, in its order. The list also contains communities of other tests.
func ranking(t *testing.T, by *apptest.Client, path string, query url.Values, ids ...string) []string {
	t.Helper()
	l := listing{by: by, path: path, query: query, list: "communities", id: "communityId"}
	found := slices.Concat(l.walk(t, l.page(t, url.Values{"options[limit]": {"100"}}), "next")...)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(found))), len(found), "each community once")
	return slices.DeleteFunc(found, func(id string) bool { return !slices.Contains(ids, id) })
}

// busyCommunity creates a community in which as many new users have posted.
func busyCommunity(t *testing.T, boss *apptest.Client, users int, fields ...object) string {
	t.Helper()
	id := newCommunity(t, boss, fields...)
	for i := range users {
		writer := newUser(t, region.All()[i%3], "writer")
		boss.Do(t, http.MethodPost, communitiesPath+"/"+id+"/users", object{"userIds": userIDs(writer)}).OK(t)
		newPost(t, writer, id)
		newPost(t, writer, id)
	}
	return id
}

// TestTrendingCommunities lists communities of all regions by the number of users who post in them, and hidden ones only for
// their members.
func TestTrendingCommunities(t *testing.T) {
	t.Parallel()
	eu, us, reader := newUser(t, region.EU, "boss"), newUser(t, region.US, "boss"), newUser(t, region.SG, "reader")
	quiet := busyCommunity(t, eu, 0)
	busiest := busyCommunity(t, us, 5)
	hidden := busyCommunity(t, us, 4, object{"isPublic": false, "isDiscoverable": false})
	private := busyCommunity(t, eu, 3, object{"isPublic": false, "isDiscoverable": true})
	busy := busyCommunity(t, eu, 2)
	deleted := busyCommunity(t, us, 1)
	us.Do(t, http.MethodDelete, communitiesPath+"/"+deleted, nil).OK(t)
	all := []string{busiest, hidden, private, busy, deleted, quiet}
	for _, code := range region.All() {
		require.Equal(t, []string{busiest, private, busy, quiet}, ranking(t, reader.At(code), trendingPath, nil, all...))
	}
	public := url.Values{"includeDiscoverablePrivateCommunity": {"false"}}
	require.Equal(t, []string{busiest, busy, quiet}, ranking(t, reader, trendingPath, public, all...))
	require.Equal(t, []string{busiest, hidden, private, busy, quiet}, ranking(t, admin(t), trendingPath, nil, all...))
	require.Equal(t, []string{busiest, hidden, busy, quiet}, ranking(t, us, trendingPath, public, all...), "hidden is known to its members")
	requireAggregate(t, reader.Do(t, http.MethodGet, trendingPath, nil), "", communityAggregate)
	requireRankedPages(t, reader, trendingPath)
}

// requireRankedPages checks the limits of a ranked list, and that its pages lead back to the first one.
func requireRankedPages(t *testing.T, by *apptest.Client, path string) {
	t.Helper()
	l := listing{by: by, path: path, list: "communities", id: "communityId"}
	l.requireLimits(t)
	first := l.page(t, url.Values{"options[limit]": {"2"}})
	second := l.page(t, url.Values{"options[token]": {l.token(t, first, "next")}})
	back := l.page(t, url.Values{"options[token]": {l.token(t, second, "previous")}})
	require.Equal(t, l.ids(t, first), l.ids(t, back))
	require.NotContains(t, l.ids(t, second), l.ids(t, first)[1])
	requireAttempts(t, []attempt{
		{"anonymous", apptest.Shared(t).Anonymous(region.EU), http.MethodGet, path, nil, unauthorized},
		{
			"bad token", by, http.MethodGet, path + "?options[token]=x", nil,
			failure{status: 422, code: 500000, message: "Parameters validation error!"},
		},
		{
			"token of another list", by, http.MethodGet,
			path + "?includeDiscoverablePrivateCommunity=false&options[token]=" + url.QueryEscape(l.token(t, first, "next")), nil,
			failure{status: 422, code: 500000, message: "Parameters validation error!"},
		},
	})
}

// TestRecommendedCommunities recommends communities by their activity, by the followed users in them and by their categories.
func TestRecommendedCommunities(t *testing.T) {
	t.Parallel()
	boss, caller := newUser(t, region.EU, "boss"), newUser(t, region.US, "caller")
	friends := []*apptest.Client{newUser(t, region.EU, "friend"), newUser(t, region.SG, "friend")}
	for _, friend := range friends {
		caller.Do(t, http.MethodPost, followingPath+"/"+friend.UserID, nil).OK(t)
	}
	category := newCategory(t, admin(t), "category")
	active := busyCommunity(t, boss, 1)
	liked := newCommunity(t, boss, object{"userIds": userIDs(friends...)})
	similar := newCommunity(t, boss, object{"categoryIds": []string{category}})
	quiet := newCommunity(t, boss)
	newPost(t, newUserIn(t, active), active)
	joined := newCommunity(t, boss, object{"categoryIds": []string{category}, "userIds": userIDs(caller)})
	banned := busyCommunity(t, boss, 3, object{"userIds": userIDs(caller)})
	banMember(t, boss, banned, caller)
	hidden := newCommunity(t, boss, object{"isPublic": false, "isDiscoverable": false, "userIds": userIDs(friends...)})
	all := []string{active, liked, similar, quiet, joined, banned, hidden}
	for _, code := range region.All() {
		got := ranking(t, caller.At(code), recommendedPath, nil, all...)
		require.ElementsMatch(t, []string{active, liked}, got[:2], "both count three users")
		require.Equal(t, []string{similar, quiet}, got[2:])
	}
	third := newUserIn(t, liked)
	newPost(t, third, liked)
	require.Equal(t, []string{liked, active, similar, quiet}, ranking(t, caller, recommendedPath, nil, all...))
	requireRankedPages(t, caller, recommendedPath)
}

// newUserIn returns a new member of a community.
func newUserIn(t *testing.T, communityID string) *apptest.Client {
	t.Helper()
	c := newUser(t, region.SG, "member")
	join(t, communityID, c)
	return c
}

// TestTrendingCommunitiesAreCached creates a community after a server has read the ranking: this server uses it for the configured time.
func TestTrendingCommunitiesAreCached(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) { cfg.RankingAge = config.Delay(time.Hour) }))
	boss := n.NewUser(t, region.EU, "boss")
	trending := func(code region.Code) []string {
		return boss.At(code).Do(t, http.MethodGet, trendingPath, nil).OK(t).Strings(t, "communities", "communityId")
	}
	first := newCommunity(t, boss)
	require.Equal(t, []string{first}, trending(region.EU))
	second := newCommunity(t, boss)
	require.Equal(t, []string{first}, trending(region.EU))
	require.ElementsMatch(t, []string{first, second}, trending(region.US))
}
