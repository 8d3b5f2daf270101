package conformance

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	userSettingPath   = settingsPath + "/users"
	searchSettingPath = settingsPath + "/semantic-search"
)

// TestUserSettings forbids users to change their display names. Administrators still change them, and other fields and
// sign-ins with another name succeed.
func TestUserSettings(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice, boss := n.NewUser(t, region.EU, "alice"), n.Admin(region.EU)
	rename := func(by *apptest.Client, name string) *apptest.Response {
		return by.Do(t, http.MethodPut, "/api/v3/users", object{"userId": alice.UserID, "displayName": name, "description": name})
	}
	require.JSONEq(t, `{"isAllowUpdateDisplayName":true}`, string(alice.Do(t, http.MethodGet, userSettingPath, nil).OK(t).Body))
	rename(alice, "First").OK(t)
	require.JSONEq(t, `{"isAllowUpdateDisplayName":false}`,
		string(boss.Do(t, http.MethodPut, userSettingPath, object{"isAllowUpdateDisplayName": false}).OK(t).Body))
	boss.Do(t, http.MethodPut, userSettingPath, object{}).OK(t)
	require.JSONEq(t, `{"isAllowUpdateDisplayName":false}`, string(alice.Do(t, http.MethodGet, userSettingPath, nil).OK(t).Body),
		"absent fields stay")

	requireFailure(t, forbidden, rename(alice, "Second"))
	rename(alice, "First").OK(t)
	alice.Do(t, http.MethodPut, "/api/v3/users", object{"description": "Third"}).OK(t)
	signIn := func(id, name string) string {
		body := session(id, object{"displayName": name, "authToken": authToken(t, n, region.EU, id)})
		return device(n, region.EU).Do(t, http.MethodPost, "/api/v5/sessions", body).OK(t).String(t, "users.0.displayName")
	}
	require.Equal(t, "First", signIn(alice.UserID, "Fourth"))
	require.Equal(t, "New", signIn("someone-new", "New"))
	require.Equal(t, "Fifth", rename(boss, "Fifth").OK(t).String(t, "users.0.displayName"))

	boss.Do(t, http.MethodPut, userSettingPath, object{"isAllowUpdateDisplayName": true}).OK(t)
	rename(alice, "Sixth").OK(t)
	require.Equal(t, "Seventh", signIn(alice.UserID, "Seventh"))
	requireAttempts(t, []attempt{
		{"as a user", alice, http.MethodPut, userSettingPath, object{}, notAllowed},
		{"read anonymously", n.Anonymous(region.EU), http.MethodGet, userSettingPath, nil, unauthorized},
		{"wrong type", boss, http.MethodPut, userSettingPath, object{"isAllowUpdateDisplayName": "no"}, invalid("isAllowUpdateDisplayName")},
	})
}

// TestSemanticSearchSettings leaves out the results of semantic search whose scores are below those of the settings.
func TestSemanticSearchSettings(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice, boss := n.NewUser(t, region.EU, "alice"), n.Admin(region.EU)
	a, b := newWord(t), newWord(t)
	one, both := newWallPost(t, alice, textOf("see "+a)), newWallPost(t, alice, textOf("see "+a+" and "+b))
	named := newCommunity(t, alice, object{"displayName": a + " " + b})
	described := newCommunity(t, alice, object{"description": "A group for " + a})
	rank := func(path string) *apptest.Response {
		return alice.Do(t, http.MethodGet, path+"?"+url.Values{"query": {a + " " + b}}.Encode(), nil).OK(t)
	}
	posts := func() []string { return rank(rankPostsPath).Strings(t, "posts", "postId") }
	communities := func() []string { return rank(rankCommunitiesPath).Strings(t, "communities", "communityId") }
	between := func(path string) float64 { // the scores of the two results
		first, _ := rank(path).Get(t, "searchResult.0.score").(float64)
		second, _ := rank(path).Get(t, "searchResult.1.score").(float64)
		require.Greater(t, first, second)
		return (first + second) / 2
	}
	put := func(body object) *apptest.Response { return boss.Do(t, http.MethodPut, searchSettingPath, body).OK(t) }

	require.JSONEq(t, `{"semanticSearch":{"postMinScore":0,"communityMinScore":0}}`,
		string(alice.Do(t, http.MethodGet, searchSettingPath, nil).OK(t).Body))
	require.Equal(t, []string{both, one}, posts())
	require.Equal(t, []string{named, described}, communities())
	post, community := between(rankPostsPath), between(rankCommunitiesPath)
	r := put(object{"postMinScore": post})
	require.InDelta(t, post, r.Get(t, "semanticSearch.postMinScore"), 0)
	require.InDelta(t, 0, r.Get(t, "semanticSearch.communityMinScore"), 0)
	require.Equal(t, []string{both}, posts())
	require.Equal(t, []string{named, described}, communities())
	put(object{"postMinScore": 0, "communityMinScore": community})
	require.Equal(t, []string{both, one}, posts())
	require.Equal(t, []string{named}, communities())
	requireAttempts(t, []attempt{
		{"as a user", alice, http.MethodPut, searchSettingPath, object{}, notAllowed},
		{"read anonymously", n.Anonymous(region.EU), http.MethodGet, searchSettingPath, nil, unauthorized},
		{"above 1", boss, http.MethodPut, searchSettingPath, object{"postMinScore": 1.1}, invalid("postMinScore")},
		{"below 0", boss, http.MethodPut, searchSettingPath, object{"communityMinScore": -0.1}, invalid("communityMinScore")},
	})
}
