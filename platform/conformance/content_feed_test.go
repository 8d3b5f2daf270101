package conformance

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const contentFeedPath = "/api/v3/content-feeds"

func newContentPost(t *testing.T, c *apptest.Client) string {
	t.Helper()
	nextMillisecond()
	r := c.Do(t, http.MethodPost, "/api/v4/posts",
		object{"targetType": "content", "targetId": "article-7", "data": object{"text": "under an article"}}).OK(t)
	requireResource(t, "post", postFields, r.Get(t, "posts.0"))
	require.Equal(t, "content", r.String(t, "posts.0.targetType"))
	require.Equal(t, "article-7", r.String(t, "posts.0.targetId"))
	return r.String(t, "posts.0.postId")
}

// TestContentFeed posts on content from every region, reads the post in another region, and applies every operation
// on posts to it.
func TestContentFeed(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	var authors []*apptest.Client
	var ids []string
	for i := range 5 {
		authors = append(authors, n.NewUser(t, region.All()[i%3], "author"))
		ids = append(ids, newContentPost(t, authors[i].At(region.All()[(i+1)%3])))
	}
	reader := n.NewUser(t, region.SG, "reader")
	by := reader
	list := func(query string) []string {
		t.Helper()
		r := by.Do(t, http.MethodGet, contentFeedPath+query, nil).OK(t)
		require.Equal(t, "success", r.String(t, "status"))
		for _, name := range []string{"posts", "postChildren", "comments", "users", "files"} {
			r.List(t, "data."+name)
		}
		return r.Strings(t, "data.posts", "postId")
	}
	require.Equal(t, []string{ids[4], ids[3], ids[2], ids[1], ids[0]}, list(""))
	require.Equal(t, ids, list("?sortBy=firstCreated"))
	nextMillisecond()
	authors[1].Do(t, http.MethodPut, "/api/v4/posts/"+ids[1], object{"data": object{"text": "edited"}}).OK(t)
	require.Equal(t, []string{ids[1], ids[4], ids[3], ids[2], ids[0]}, list("?sortBy=lastUpdated"))
	require.Equal(t, []string{ids[0], ids[2], ids[3], ids[4], ids[1]}, list("?sortBy=firstUpdated"))
	r := reader.Do(t, http.MethodGet, contentFeedPath+"?options[limit]=2", nil).OK(t)
	next := reader.Do(t, http.MethodGet, contentFeedPath+"?options[token]="+url.QueryEscape(r.String(t, "data.paging.next")), nil).OK(t)
	require.Equal(t, []string{ids[2], ids[1]}, next.Strings(t, "data.posts", "postId"))
	require.Equal(t, next.String(t, "paging.next"), next.String(t, "data.paging.next"))
	require.NotEmpty(t, next.String(t, "paging.previous"))

	require.Equal(t, "content", reader.Do(t, http.MethodGet, "/api/v3/posts/"+ids[0], nil).OK(t).String(t, "posts.0.targetType"))
	require.Equal(t, ids[:2], reader.Do(t, http.MethodGet, "/api/v3/posts/list?postIds[]="+ids[0]+"&postIds[]="+ids[1], nil).OK(t).Strings(t,
		"posts", "postId"))
	comment := newComment(t, reader, ids[0])
	reader.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceId": ids[0], "referenceType": "post", "reactionName": "like"}).OK(t)
	reader.Do(t, http.MethodPost, "/api/v3/posts/"+ids[1]+"/flag", nil).OK(t)
	require.Equal(t, []string{ids[4], ids[3], ids[2], ids[1], ids[0]}, list("?hasFlag=false"))
	requireFailure(t, notAllowed, by.Do(t, http.MethodGet, contentFeedPath+"?hasFlag=true", nil))
	by = n.Admin(region.US)
	require.Equal(t, []string{ids[1]}, list("?hasFlag=true"))
	require.Equal(t, []string{ids[4], ids[3], ids[2], ids[0]}, list("?hasFlag=false"))
	requireFailure(t, forbidden, reader.Do(t, http.MethodDelete, "/api/v4/posts/"+ids[0], nil))
	reader.Do(t, http.MethodDelete, "/api/v4/comments/"+comment, nil).OK(t)
	authors[0].Do(t, http.MethodDelete, "/api/v4/posts/"+ids[0], nil).OK(t)
	require.Equal(t, []string{ids[4], ids[3], ids[2], ids[1]}, list(""))
	require.Equal(t, []string{ids[0]}, list("?isDeleted=true"))
	requireAttempts(t, []attempt{
		{
			"no target", reader, http.MethodPost, "/api/v4/posts",
			object{"targetType": "content", "data": object{"text": "x"}},
			invalid("targetId"),
		},
		{
			"scheduled", reader, http.MethodPost, schedulePath,
			object{"scheduledAt": timeIn(3600e9), "postData": object{"targetType": "content", "targetId": "a", "data": object{"text": "x"}}},
			invalid("postData.targetType"),
		},
		{
			"by an administrator", n.Admin(region.EU), http.MethodPost, "/api/v4/posts",
			object{"targetType": "content", "targetId": "a", "data": object{"text": "x"}},
			forbidden,
		},
		{"the order", reader, http.MethodGet, contentFeedPath + "?sortBy=name", nil, invalid("sortBy")},
		{"limit of 101", reader, http.MethodGet, contentFeedPath + "?options[limit]=101", nil, invalid("options.limit")},
		{"anonymous", n.Anonymous(region.EU), http.MethodGet, contentFeedPath, nil, failure{status: 401, code: 400100}},
	})
}

// TestPostsOnContent lists the posts on one piece of content from every region.
func TestPostsOnContent(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	article := "article: 7/é"
	var ids, tagged []string
	for i := range 7 {
		c := n.SignIn(t, region.All()[i%3], apptest.UserID("author"))
		nextMillisecond()
		draft := object{
			"targetType": "content", "targetId": article, "data": object{"text": "under an article"},
			"tags": []string{[]string{"odd", "even"}[i%2]},
		}
		ids = append(ids, c.Do(t, http.MethodPost, "/api/v4/posts", draft).OK(t).String(t, "posts.0.postId"))
		if i%2 == 0 {
			tagged = append(tagged, ids[i])
		}
		c.Do(t, http.MethodPost, "/api/v4/posts", with(draft, object{"targetId": "article 8"})).OK(t)
	}
	reader := n.SignIn(t, region.SG, "reader")
	for _, path := range []string{"/api/v5/posts", "/api/v4/posts", "/api/v3/posts"} {
		l := listing{by: reader, path: path, list: "posts", id: "postId"}.with("targetType", "content").with("targetId", article)
		l.with("sortBy", "lastCreated").requirePages(t, 3, reversed(ids))
		l.with("sortBy", "firstCreated").requirePages(t, 2, ids)
		l.with("sortBy", "lastUpdated").requireOrder(t, reversed(ids))
		l.with("tags[]", "odd").requireOrder(t, reversed(tagged))
		l.as(n.Admin(region.EU)).with("hasFlag", "true").requireOrder(t, []string{})
		l.with("hasFlag", "false").requireOrder(t, reversed(ids))
		l.with("dataTypes[]", "text").requireOrder(t, reversed(ids))
		l.with("dataTypes[]", "image").requireOrder(t, []string{})
		l.with("feedType", "reviewing").requireOrder(t, []string{})
		l.with("isDeleted", "true").requireOrder(t, []string{})
		l.requireLimits(t)
		for _, post := range l.page(t, nil).List(t, "posts") {
			requireResource(t, "posts", postFields, post)
			require.Equal(t, article, post.(object)["targetId"])
		}
	}
	l := listing{by: n.Admin(region.US), path: "/api/v4/posts", list: "posts", id: "postId"}.with("targetType", "content")
	l.with("targetId", "nothing here").requireOrder(t, []string{})
	l.by.Do(t, http.MethodDelete, "/api/v4/posts/"+ids[6], nil).OK(t)
	l.with("targetId", article).with("isDeleted", "false").requireOrder(t, reversed(ids[:6]))
	l.with("targetId", article).with("isDeleted", "true").requireOrder(t, ids[6:])
	requireAttempts(t, []attempt{
		{"no target", reader, http.MethodGet, "/api/v4/posts?targetType=content", nil, invalid("targetId")},
		{"other type", reader, http.MethodGet, "/api/v4/posts?targetType=article&targetId=x", nil, invalid("targetType")},
		{"anonymous", n.Anonymous(region.EU), http.MethodGet, "/api/v4/posts?targetType=content&targetId=x", nil, unauthorized},
	})
}
