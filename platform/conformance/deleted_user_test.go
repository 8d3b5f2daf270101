package conformance

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// TestDeletedUsersAreNotFound lists the wall of a deleted user, whose content is erased later, and looks for the user by id.
func TestDeletedUsersAreNotFound(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice, gone := n.NewUser(t, region.EU, "alice"), n.NewUser(t, region.US, "gone")
	post := newWallPost(t, gone)
	stories := []string{
		storiesPath + "?targetType=user&targetId=" + gone.UserID,
		storiesPath + "/count?targetType=user&targetId=" + gone.UserID,
	}
	wall, search := postsPath+"?targetType=user&targetId="+gone.UserID, "/api/v3/users?searchBy[]=userId&keyword="+gone.UserID
	find := func(query string) []string {
		return alice.Do(t, http.MethodGet, search+query, nil).OK(t).Strings(t, "users", "userId")
	}
	require.Equal(t, []string{post}, alice.Do(t, http.MethodGet, wall, nil).OK(t).Strings(t, "posts", "postId"))
	require.Equal(t, []string{gone.UserID}, find(""))
	require.Empty(t, find("&isDeleted=true"))
	for _, path := range stories {
		alice.Do(t, http.MethodGet, path, nil).OK(t)
	}
	execute(t, n, "UPDATE users SET deleted_at = now() WHERE id = $1", gone.InternalID)
	for _, path := range stories {
		requireFailure(t, notFound, alice.Do(t, http.MethodGet, path, nil))
	}
	requireFailure(t, notFound, alice.Do(t, http.MethodGet, wall, nil))
	requireFailure(t, notFound, alice.Do(t, http.MethodPost, postsPath,
		with(textPost("x"), object{"targetType": "user", "targetId": gone.UserID})))
	require.Empty(t, find(""))
	require.Equal(t, []string{gone.UserID}, find("&isDeleted=true"))
}

// TestFollowsOfDeletedUsers lists follows and blocks with a filter for deleted users, for other users, and for both.
// Each list has users of two regions, in the order of the list.
func TestFollowsOfDeletedUsers(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice := n.NewUser(t, region.EU, "alice")
	others := []*apptest.Client{
		n.NewUser(t, region.EU, "bob"), n.NewUser(t, region.US, "carol"), n.NewUser(t, region.EU, "dave"),
		n.NewUser(t, region.SG, "erin"),
	}
	blocked := []*apptest.Client{n.NewUser(t, region.US, "frank"), n.NewUser(t, region.EU, "grace")}
	var newestFirst []string
	for _, c := range others {
		nextMillisecond()
		alice.Do(t, http.MethodPost, "/api/v4/me/following/"+c.UserID, nil).OK(t)
		c.Do(t, http.MethodPost, "/api/v4/me/following/"+alice.UserID, nil).OK(t)
		newestFirst = append([]string{c.UserID}, newestFirst...)
	}
	for _, c := range blocked {
		nextMillisecond()
		alice.Do(t, http.MethodPost, "/api/v4/me/user-blocks/"+c.UserID, nil).OK(t)
	}
	conn := connectTo(t, n)
	carol, dave := others[1], others[2]
	for _, id := range []string{carol.InternalID, dave.InternalID, blocked[0].InternalID} {
		_, err := conn.Exec(t.Context(), "UPDATE users SET deleted_at = now() WHERE id = $1", id)
		require.NoError(t, err)
	}
	live, gone := []string{newestFirst[0], newestFirst[3]}, []string{newestFirst[1], newestFirst[2]}

	follows := map[string]string{
		"/api/v4/me/following": "to", "/api/v4/users/" + alice.UserID + "/following": "to",
		"/api/v4/me/followers": "from", "/api/v4/users/" + alice.UserID + "/followers": "from",
	}
	for path, field := range follows {
		for query, want := range map[string][]string{"": newestFirst, "?isDeleted=false": live, "?isDeleted=true": gone} {
			r := alice.Do(t, http.MethodGet, path+query, nil).OK(t)
			require.ElementsMatch(t, want, r.Strings(t, "follows", field), "%s%s", path, query)
			require.Equal(t, append([]string{alice.UserID}, r.Strings(t, "follows", field)...), r.Strings(t, "users", "userId"),
				"%s%s: by first reference", path, query)
		}
	}
	path := "/api/v4/me/user-blocks"
	for query, want := range map[string][]string{
		"": {blocked[1].UserID, blocked[0].UserID}, "?isDeleted=false": {blocked[1].UserID}, "?isDeleted=true": {blocked[0].UserID},
	} {
		r := alice.Do(t, http.MethodGet, path+query, nil).OK(t)
		require.Equal(t, want, r.Strings(t, "follows", "to"), query)
	}

	first := alice.Do(t, http.MethodGet, "/api/v4/me/following?isDeleted=true&options[limit]=1", nil).OK(t)
	require.Empty(t, first.List(t, "follows"), "the page of erin, who is not deleted")
	require.Empty(t, first.List(t, "users"))
	next := alice.Do(t, http.MethodGet, "/api/v4/me/following?isDeleted=true&token="+first.String(t, "paging.next"), nil).OK(t)
	require.Equal(t, []string{dave.UserID}, next.Strings(t, "follows", "to"))
}

// TestUsersAreOrderedByFirstReference reads the same page several times. Its authors live in three regions, whose
// rows arrive in any order.
func TestUsersAreOrderedByFirstReference(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	owner := n.NewUser(t, region.EU, "owner")
	community := newCommunity(t, owner)
	var newestFirst []string
	for _, code := range []region.Code{region.US, region.SG, region.EU, region.US, region.EU, region.SG} {
		author := n.NewUser(t, code, "author")
		join(t, community, author)
		newPost(t, author, community)
		newestFirst = append([]string{author.UserID}, newestFirst...)
	}
	want := append(slices.Clone(newestFirst), owner.UserID) // the creator of the community is referenced after the posts
	for range 10 {
		r := owner.Do(t, http.MethodGet, "/api/v4/posts?targetType=community&targetId="+community, nil).OK(t)
		require.Equal(t, newestFirst, r.Strings(t, "posts", "postedUserId"))
		require.Equal(t, want, r.Strings(t, "users", "userId"))
	}
}
