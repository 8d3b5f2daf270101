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
