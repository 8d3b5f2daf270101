package conformance

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	searchPath          = "/api/v1/search/posts"
	rankPostsPath       = "/api/v1/semantic-search/posts"
	rankCommunitiesPath = "/api/v1/semantic-search/communities"
)

// newWord returns a word that no other test uses.
func newWord(t *testing.T) string {
	t.Helper()
	return "w" + region.NewID(region.US)
}

func textOf(text string, hashtags ...string) object {
	return object{"data": object{"text": text}, "hashtags": hashtags}
}

// search returns the ids of the posts of a page.
func search(t *testing.T, c *apptest.Client, query url.Values) []string {
	t.Helper()
	return c.Do(t, http.MethodGet, searchPath+"?"+query.Encode(), nil).OK(t).Strings(t, "posts", "postId")
}

// TestSearchPosts finds posts of all regions by hashtags and words, and follows their edits and deletions.
func TestSearchPosts(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	tag, word := newWord(t), newWord(t)
	first := newWallPost(t, us, textOf("A rope for "+strings.ToUpper(word)+", please", tag))
	second := newPost(t, eu, newCommunity(t, eu), textOf("nothing", tag, "other"+tag))
	third := newContentPost(t, sg)
	sg.Do(t, http.MethodPut, "/api/v4/posts/"+third, textOf("the rope: "+word+"!", strings.ToUpper(tag))).OK(t)
	for name, tc := range map[string]struct {
		query url.Values
		want  []string
	}{
		"hashtag":           {url.Values{"hashtags": {tag}}, []string{third, second, first}},
		"hashtag with #":    {url.Values{"hashtags": {"#" + tag}}, []string{third, second, first}},
		"case":              {url.Values{"hashtags": {strings.ToUpper(tag)}}, []string{third, second, first}},
		"two hashtags":      {url.Values{"hashtags": {tag, "other" + tag}}, []string{third, second, first}},
		"oldest first":      {url.Values{"hashtags": {tag}, "sortBy": {"firstCreated"}}, []string{first, second, third}},
		"of all targets":    {url.Values{"hashtags": {tag}, "targetType": {"all"}}, []string{third, second, first}},
		"of communities":    {url.Values{"hashtags": {tag}, "targetType": {"community"}}, []string{second}},
		"of one wall":       {url.Values{"hashtags": {tag}, "targetType": {"user"}, "targetId": {us.UserID}}, []string{first}},
		"of another wall":   {url.Values{"hashtags": {tag}, "targetType": {"user"}, "targetId": {eu.UserID}}, []string{}},
		"images":            {url.Values{"hashtags": {tag}, "dataTypes": {"image"}}, []string{}},
		"texts":             {url.Values{"hashtags": {tag}, "dataTypes": {"text", "image"}}, []string{third, second, first}},
		"word":              {url.Values{"query": {word}}, []string{third, first}},
		"hashtag as a word": {url.Values{"query": {tag}}, []string{third, second, first}},
		"words":             {url.Values{"query": {"rope " + word}}, []string{third, first}},
		"all words":         {url.Values{"query": {"please " + word}}, []string{first}},
		"prefix":            {url.Values{"query": {"rope " + word[:20] + "*"}}, []string{third, first}},
		"not a prefix":      {url.Values{"query": {"rope " + word[:20]}}, []string{}},
		"hashtag and word":  {url.Values{"hashtags": {tag}, "query": {"please"}}, []string{first}},
		"unknown":           {url.Values{"hashtags": {tag + "x"}}, []string{}},
	} {
		require.Equal(t, tc.want, search(t, eu, tc.query), name)
	}

	us.Do(t, http.MethodPut, "/api/v4/posts/"+first, textOf("no longer", "other")).OK(t)
	require.Equal(t, []string{third}, search(t, eu, url.Values{"query": {word}}))
	require.Equal(t, []string{third, second}, search(t, eu, url.Values{"hashtags": {tag}}))
	sg.Do(t, http.MethodDelete, "/api/v4/posts/"+third, nil).OK(t)
	require.Equal(t, []string{second}, search(t, eu, url.Values{"hashtags": {tag}}))
}

// TestSearchPostsByPage reads the pages of a search of several hashtags in all regions, forwards and back.
func TestSearchPostsByPage(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	tag := newWord(t)
	var want []string
	for i := range 7 {
		author := []*apptest.Client{us, eu, sg}[i%3]
		want = append(want, newWallPost(t, author, textOf("t", tag, "also"+tag)))
	}
	slices.Reverse(want)
	query := url.Values{"hashtags": {tag, "also" + tag}, "options[limit]": {"3"}, "options[type]": {"pagination"}}
	var pages [][]string
	for range 3 {
		r := us.Do(t, http.MethodGet, searchPath+"?"+query.Encode(), nil).OK(t)
		pages = append(pages, r.Strings(t, "posts", "postId"))
		query = url.Values{"options[token]": {r.String(t, "paging.next")}} // as clients that rely on the token
	}
	require.Equal(t, [][]string{want[:3], want[3:6], want[6:]}, pages)
	require.Equal(t, url.Values{"options[token]": {""}}, query)
}

// TestSearchShowsOnlyWhatTheCallerSees searches for posts that only some callers may read.
func TestSearchShowsOnlyWhatTheCallerSees(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	us, eu, sg := newUserPerRegion(t, n)
	tag := newWord(t)
	private := newCommunity(t, eu, object{"isPublic": false})
	hidden := newPost(t, eu, private, textOf("in private "+tag, tag))
	reviewed := newCommunity(t, eu, object{"needApprovalOnPostCreation": true})
	join(t, reviewed, us)
	waiting := newPost(t, us, reviewed, textOf("waits "+tag, tag))
	onWall := newWallPost(t, sg, textOf("on a wall "+tag, tag))
	paths := []string{searchPath + "?hashtags=" + tag, searchPath + "?query=" + tag, rankPostsPath + "?query=" + tag}
	sees := func(c *apptest.Client, want ...string) {
		t.Helper()
		want = append([]string{}, want...)
		slices.Sort(want)
		for _, path := range paths {
			found := c.Do(t, http.MethodGet, path, nil).OK(t).Strings(t, "posts", "postId")
			slices.Sort(found)
			require.Equal(t, want, found, path)
		}
	}
	sees(us, onWall)
	sees(eu, hidden, onWall)
	eu.Do(t, http.MethodPost, "/api/v3/communities/"+private+"/users", object{"userIds": []string{us.UserID}}).OK(t)
	sees(us, hidden, onWall)
	eu.Do(t, http.MethodPost, "/api/v3/posts/"+waiting+"/approve", nil).OK(t)
	sees(us, hidden, onWall, waiting)
	block(t, sg, us)
	sees(us, hidden, waiting)
	block(t, us, eu)
	sees(us, waiting)
	eu.Do(t, http.MethodDelete, "/api/v3/communities/"+reviewed, nil).OK(t)
	sees(us)
	sees(eu, hidden, onWall)
}

// TestSearchRefusals holds what a search must not be.
func TestSearchRefusals(t *testing.T) {
	t.Parallel()
	c := newUser(t, region.EU, "searcher")
	for query, want := range map[string]string{
		"":                                    "query: must contain a word if there are no hashtags",
		"query=...":                           "query: must contain a word if there are no hashtags",
		"query=ab*":                           "query: must have at least 3 letters before *",
		"query=%D0%B9%D1%86*":                 "query: must have at least 3 letters before *",
		"query=abc*&hashtags=x":               "query: must not end with * if there are hashtags",
		"query=a+b+c+d+e+f+g+h+i+j+k":         "query: must have at most 10 different words",
		"query=a&targetId=x":                  "targetType: must be community, user or content if there is a targetId",
		"query=a&targetType=x":                "targetType: must be in list [all, community, user, content]",
		"query=a&options%5Blimit%5D=101":      "options.limit: must be greater than or equal to 1",
		strings.Repeat("&hashtags=x", 11)[1:]: "hashtags: must contain no more than 10 item(s)",
	} {
		requireFailure(t, invalid(want), c.Do(t, http.MethodGet, searchPath+"?"+query, nil))
	}
	for _, query := range []string{"a+b+c+d+e+f+g+h+i+j", "abc*", "%D0%B9%D1%86%D1%83*"} {
		c.Do(t, http.MethodGet, searchPath+"?query="+query, nil).OK(t)
	}
	requireFailure(t, invalid("query: "), c.Do(t, http.MethodGet, rankPostsPath, nil))
	requireFailure(t, invalid("filter: "), c.Do(t, http.MethodGet, rankCommunitiesPath+"?filter=mine&query=a", nil))
}

// TestRankPosts orders posts by similarity: a title, several words and short texts come first, related words last.
func TestRankPosts(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	a, b := newWord(t), newWord(t)
	long := newWallPost(t, eu, textOf(a+strings.Repeat(" many other words", 20)))
	related := newWallPost(t, us, textOf("see "+a+"ing"))
	both := newWallPost(t, sg, textOf("see "+a+" and "+b))
	one := newWallPost(t, eu, textOf("see "+a+" alone"))
	newWallPost(t, eu, textOf("something else"))
	query := url.Values{"query": {a + " " + b}, "options[limit]": {"3"}}
	r := us.Do(t, http.MethodGet, rankPostsPath+"?"+query.Encode(), nil).OK(t)
	require.Equal(t, []string{both, one, related}, r.Strings(t, "posts", "postId"))
	require.Equal(t, []string{both, one, related}, r.Strings(t, "searchResult", "postId"))
	require.Equal(t, []string{both, one, related}, r.Strings(t, "searchResults", "postId"))
	var last float64 = 1
	for _, result := range r.List(t, "searchResult") {
		score, _ := result.(map[string]any)["score"].(float64)
		require.Greater(t, last, score)
		require.Positive(t, score)
		last = score
	}
	next := us.Do(t, http.MethodGet, rankPostsPath+"?options%5Btoken%5D="+url.QueryEscape(r.String(t, "paging.next")), nil).OK(t)
	require.Equal(t, []string{long}, next.Strings(t, "posts", "postId"))
	require.Empty(t, next.String(t, "paging.next"))
	previous := us.Do(t, http.MethodGet, rankPostsPath+"?options%5Btoken%5D="+url.QueryEscape(next.String(t, "paging.previous")), nil).OK(t)
	require.Equal(t, []string{both, one, related}, previous.Strings(t, "posts", "postId"))

	word := newWord(t)
	find := func(c *apptest.Client, more string) []string {
		return c.Do(t, http.MethodGet, rankPostsPath+"?query="+word+more, nil).OK(t).Strings(t, "posts", "postId")
	}
	newest := newWord(t)
	short := newWallPost(t, us, textOf("ёж "+newest))
	for _, query := range []string{"ёж " + newest, newest + " йо"} { // two letters and four bytes
		found := us.Do(t, http.MethodGet, rankPostsPath+"?query="+url.QueryEscape(query), nil).OK(t).Strings(t, "posts", "postId")
		require.Equal(t, short, found[0], query)
	}
	tagged := newWallPost(t, us, with(textOf("see "+word), object{"tags": []string{"sport"}}))
	hidden := newPost(t, sg, newCommunity(t, sg, object{"isPublic": false, "isDiscoverable": false}), textOf("see "+word))
	require.Equal(t, []string{tagged}, find(eu, ""))
	require.ElementsMatch(t, []string{tagged, hidden}, find(sg, ""))
	require.ElementsMatch(t, []string{tagged, hidden}, find(admin(t), ""))
	require.Equal(t, []string{tagged}, find(sg, "&tags=sport"))
	require.Empty(t, find(sg, "&tags=other"))
}

// TestRankCommunities finds communities by name, description and tags, with the filters of clients.
func TestRankCommunities(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	word := newWord(t)
	described := newCommunity(t, us, object{"description": "A group for " + word})
	named := newCommunity(t, eu, object{"displayName": word})
	secret := newCommunity(t, sg, object{"displayName": word, "isPublic": false, "isDiscoverable": false})
	listed := newCommunity(t, sg, object{"displayName": "The " + word, "isPublic": false, "isDiscoverable": true, "tags": []string{"sport"}})
	find := func(c *apptest.Client, more ...string) []string {
		t.Helper()
		r := c.Do(t, http.MethodGet, rankCommunitiesPath+"?query="+word+strings.Join(more, ""), nil).OK(t)
		found := r.Strings(t, "communities", "communityId")
		require.Equal(t, found, r.Strings(t, "searchResult", "communityId"))
		return found
	}
	require.Equal(t, []string{named, listed, described}, find(us))
	require.Equal(t, []string{named, listed}, find(us, "&options%5Blimit%5D=2"))
	first := us.Do(t, http.MethodGet, rankCommunitiesPath+"?query="+word+"&options%5Blimit%5D=2", nil).OK(t)
	token := func(r *apptest.Response, direction string) *apptest.Response {
		at := rankCommunitiesPath + "?options%5Btoken%5D=" + url.QueryEscape(r.String(t, "paging."+direction))
		return us.Do(t, http.MethodGet, at, nil).OK(t)
	}
	next := token(first, "next")
	require.Equal(t, []string{described}, next.Strings(t, "communities", "communityId"))
	require.Empty(t, next.String(t, "paging.next"))
	require.Equal(t, []string{named, listed}, token(next, "previous").Strings(t, "communities", "communityId"))
	require.ElementsMatch(t, []string{named, secret, listed, described}, find(sg))
	require.ElementsMatch(t, []string{named, secret, listed, described}, find(admin(t)))
	require.Equal(t, []string{named, described}, find(us, "&includeDiscoverablePrivateCommunity=false"))
	require.Equal(t, []string{described}, find(us, "&filter=member"))
	require.Equal(t, []string{named, listed}, find(us, "&filter=notMember"))
	require.Equal(t, []string{listed}, find(us, "&tags=sport"))
	require.Empty(t, find(us, "&categoryIds=unknown"))
	us.Do(t, http.MethodPut, "/api/v3/communities/"+described, object{"description": "A group"}).OK(t)
	eu.Do(t, http.MethodDelete, "/api/v3/communities/"+named, nil).OK(t)
	require.Equal(t, []string{listed}, find(us))
}
