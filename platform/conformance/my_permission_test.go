package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// TestMyPermissions compares what users are told that they may do with what they may do.
func TestMyPermissions(t *testing.T) {
	t.Parallel()
	boss, moderator, member := newUser(t, region.EU, "boss"), newUser(t, region.US, "moderator"), newUser(t, region.SG, "member")
	community := newCommunity(t, boss)
	join(t, community, moderator, member)
	boss.Do(t, http.MethodPost, membersPath(community)+"/roles", object{"role": "community-moderator", "userIds": userIDs(moderator)}).OK(t)
	permissions := func(c *apptest.Client) (bool, []any) {
		answer := c.Do(t, http.MethodGet, "/api/v3/communities/"+community+"/permissions/me", nil).OK(t)
		return answer.Bool(t, "isCreator"), answer.List(t, "permissions")
	}
	isCreator, all := permissions(boss)
	require.True(t, isCreator)
	require.Subset(t, all, []any{"DELETE_COMMUNITY", "EDIT_COMMUNITY", "BAN_COMMUNITY_USER", "DELETE_COMMUNITY_POST"})
	isCreator, some := permissions(moderator)
	require.False(t, isCreator)
	require.ElementsMatch(t, append(some, "DELETE_COMMUNITY"), all, "moderators cannot delete the community")
	_, none := permissions(member)
	require.Empty(t, none)
	_, ofAdmin := permissions(admin(t))
	require.Equal(t, all, ofAdmin)
	hidden := newCommunity(t, boss, object{"isPublic": false, "isDiscoverable": false})
	requireFailure(t, notFound, member.Do(t, http.MethodGet, "/api/v3/communities/"+hidden+"/permissions/me", nil))
}

// TestCountUserFeed counts the posts of a wall.
func TestCountUserFeed(t *testing.T) {
	t.Parallel()
	alice, bob := newUser(t, region.US, "alice"), newUser(t, region.SG, "bob")
	count := func() int {
		return bob.Do(t, http.MethodGet, "/api/v3/user-feeds/"+alice.UserID+"/count?isDeleted=false", nil).OK(t).Int(t, "postsCount")
	}
	require.Zero(t, count())
	newWallPost(t, alice)
	post := newWallPost(t, alice)
	require.Equal(t, 2, count())
	alice.Do(t, http.MethodDelete, "/api/v4/posts/"+post, nil).OK(t)
	require.Equal(t, 1, count())
	requireFailure(t, invalid("isDeleted"), bob.Do(t, http.MethodGet, "/api/v3/user-feeds/"+alice.UserID+"/count?isDeleted=true", nil))
	requireFailure(t, notFound, bob.Do(t, http.MethodGet, "/api/v3/user-feeds/"+unknownID+"/count", nil))
}
