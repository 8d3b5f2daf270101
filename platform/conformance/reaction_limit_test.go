package conformance

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// TestListReactions lists the reactions of several users, newest first, all of them and those of a name.
func TestListReactions(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	post := newWallPost(t, author)
	var users []string
	for i, name := range []string{"like", "love", "like", "like", "love"} {
		u := newUser(t, region.All()[i%3], "user")
		nextMillisecond()
		u.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceId": post, "referenceType": "post", "reactionName": name}).OK(t)
		users = append(users, u.UserID)
	}
	l := listing{by: author.At(region.SG), path: "/api/v3/reactions", list: "reactions.0.reactors", id: "userId"}.
		with("referenceId", post).with("referenceType", "post")
	l.requirePages(t, 2, reversed(users))
	l.with("reactionName", "like").requirePages(t, 1, []string{users[3], users[2], users[0]})
	l.requireLimits(t)
	r := l.page(t, nil)
	require.Equal(t, []string{"love", "like", "like", "love", "like"}, r.Strings(t, "reactions.0.reactors", "reactionName"))
	require.ElementsMatch(t, users, r.Strings(t, "users", "userId"))
	require.Equal(t, post, r.String(t, "reactions.0.referenceId"))
}

// TestReactionNames adds reactions of as many names as an object can have, and one more, also concurrently.
func TestReactionNames(t *testing.T) {
	t.Parallel()
	const limit, parallel = 100, 16
	author, other := newUser(t, region.EU, "author"), newUser(t, region.US, "other")
	post := newWallPost(t, author)
	react := func(c *apptest.Client, method string, name any) *apptest.Response {
		return c.Do(t, method, "/api/v2/reactions", object{"referenceId": post, "referenceType": "post", "reactionName": fmt.Sprint(name)})
	}
	for i := range limit - 4 {
		react(author, http.MethodPost, i).OK(t)
	}
	var g sync.WaitGroup
	var accepted atomic.Int32
	for i := range parallel {
		g.Go(func() {
			if react(author, http.MethodPost, limit+i).Status == http.StatusOK {
				accepted.Add(1)
			}
		})
	}
	g.Wait()
	require.Equal(t, int32(4), accepted.Load())

	r := react(other, http.MethodPost, "one more")
	requireRefused(t, r, http.StatusBadRequest, 400000)
	require.Equal(t, "An object can have reactions of at most 100 names", r.String(t, "message"))
	react(other, http.MethodPost, 1).OK(t)
	react(author, http.MethodDelete, 2).OK(t)
	react(other, http.MethodPost, "one more").OK(t)
	require.Len(t, author.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t).Get(t, "posts.0.reactions"), limit)
}
