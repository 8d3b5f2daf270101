package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
)

// walkPages reads every page of a list, in the direction of a paging field, and returns the ids and the sizes of the pages.
func walkPages(t *testing.T, c *apptest.Client, path, token, direction string, read func(*apptest.Response) []string,
	from ...string,
) (ids []string, sizes []int, last *apptest.Response) {
	t.Helper()
	next := strings.Join(from, "")
	for {
		r := c.Do(t, http.MethodGet, path+"&"+token+"="+next, nil).OK(t)
		found := read(r)
		ids, sizes = append(ids, found...), append(sizes, len(found))
		if len(found) > 1 {
			require.Less(t, len(r.Body), page.MaxRowBytes*5/4, "a page of %d rows", len(found))
		}
		require.Less(t, len(sizes), 100, "the list does not end")
		if next, _ = r.Get(t, "paging."+direction).(string); next == "" {
			return ids, sizes, r
		}
	}
}

// TestLargePages pages through lists whose rows have large metadata of an earlier version.
func TestLargePages(t *testing.T) {
	t.Parallel()
	const count, bytes = 24, 500_000
	author, follower := newUser(t, region.EU, "author"), newUser(t, region.US, "follower")
	follower.Do(t, http.MethodPost, "/api/v4/me/following/"+author.UserID, nil).OK(t)
	post, chat := newWallPost(t, author), newChat(t, author, follower)
	community := newCommunity(t, author)
	var posts, comments, messages, communities []string
	for range count {
		posts, comments = append(posts, newWallPost(t, author)), append(comments, newComment(t, author, post))
		messages = append(messages, chat.newMessage(t, author, "x"))
		communities = append(communities, newCommunity(t, author))
	}
	posts = append([]string{post}, posts...)
	communities = append([]string{community}, communities...)
	large := object{"k": strings.Repeat("x", bytes)}
	for table, ids := range map[string][]string{
		"posts": posts[1 : count/2], "comments": comments[:count/2], "messages": messages, "communities": communities,
	} {
		execute(t, apptest.Shared(t), "UPDATE "+table+" SET metadata = $2 WHERE id = ANY($1)", ids, large)
	}
	ids := func(list, id string) func(*apptest.Response) []string {
		return func(r *apptest.Response) []string { return r.Strings(t, list, id) }
	}
	const option = "options[token]"
	for name, tc := range map[string]struct {
		by          *apptest.Client
		path, token string
		read        func(*apptest.Response) []string
		want        []string
		back        bool
	}{
		"wall": {
			author, "/api/v4/posts?targetType=user&targetId=" + author.UserID + "&options[limit]=20", option,
			ids("posts", "postId"), posts, true,
		},
		"wall, default limit": {author, "/api/v4/posts?targetType=user&targetId=" + author.UserID, option, ids("posts", "postId"), posts, true},
		"following feed": {
			follower, "/api/v1/me/following-feeds?sortBy=lastCreated&limit=20", "token", ids("posts", "postId"), posts,
			true,
		},
		"ranked following feed": {
			follower, "/api/v1/me/following-feeds?sortBy=customRanking&limit=20", "token", ids("posts", "postId"), posts,
			false,
		},
		"comments": {
			author, "/api/v3/comments?referenceId=" + post + "&referenceType=post&options[limit]=20", option,
			ids("comments", "commentId"), comments, true,
		},
		"messages": {
			author, messagesPath + "?messageFeedId=" + chat.id + "&options[limit]=20", option, ids("messages", "messageId"),
			messages, true,
		},
		"my communities": {
			author, "/api/v3/communities?filter=member&options[limit]=20", option, ids("communities", "communityId"),
			communities, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, sizes, last := walkPages(t, tc.by, tc.path, tc.token, "next", tc.read)
			require.ElementsMatch(t, tc.want, found, "pages of %v", sizes)
			require.Less(t, slices.Min(sizes), 10, "large rows make a page shorter")
			if !tc.back {
				return
			}
			before, _, _ := walkPages(t, tc.by, tc.path, tc.token, "previous", tc.read, last.String(t, "paging.previous"))
			require.ElementsMatch(t, tc.want, slices.Concat(before, tc.read(last)), "the same rows backwards")
		})
	}
	_, sizes, _ := walkPages(t, author, "/api/v3/comments?referenceId="+post+
		"&referenceType=post&options[limit]=9&options[sortBy]=lastCreated", option, "next", ids("comments", "commentId"))
	require.Contains(t, sizes, 9, "pages of small rows have the size that the client chose: "+fmt.Sprint(sizes))
}
