package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// TestHiddenCommunityLooksUnknown calls every operation that names a community as a stranger and as a banned user.
// The answers for a community that is hidden from them equal those for a community that does not exist.
func TestHiddenCommunityLooksUnknown(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	hidden := g.community(t, object{"isPublic": false, "isDiscoverable": false})
	asking := g.community(t, object{"isPublic": false, "isDiscoverable": false, "requiresJoinApproval": true})
	compared := map[string]bool{}
	for _, r := range authorizationRows() {
		if r.request == nil || r.endsSession {
			continue
		}
		body := r.request(t, g)
		for _, w := range []principal{stranger, bannedMember} {
			by := g.principals[w]
			unknown, names := withCommunityID(body, g, unknownID)
			if !names {
				continue
			}
			compared[r.procedure] = true
			want := by.With(r.header...).Do(t, http.MethodPost, "/plaza.v1."+r.procedure, unknown)
			for _, id := range []string{hidden, asking} {
				secret, _ := withCommunityID(body, g, id)
				got := by.With(r.header...).Do(t, http.MethodPost, "/plaza.v1."+r.procedure, secret)
				require.Equal(t, want.Status, got.Status, "%s %s as %s: %s, and of an unknown one %s", r.procedure, r.name, w, got.Short(),
					want.Short())
				require.Equal(t, string(want.Body), string(got.Body), "%s %s as %s", r.procedure, r.name, w)
			}
		}
	}
	require.Greater(t, len(compared), 25, "%v", compared)
}

// withCommunityID returns the request with another community id, and whether it names a community at all.
func withCommunityID(body object, g *fixture, id string) (object, bool) {
	out, names := with(body), false
	for _, field := range []string{"communityId", "targetId", "channelId", "messageFeedId"} {
		value := text(out, field)
		if value != "" && (field == "communityId" || value == g.open || value == g.private) {
			out[field], names = id, true
		}
	}
	return out, names
}

// TestHiddenCommunityOverREST does the same for the REST paths, and also calls them as a member.
func TestHiddenCommunityOverREST(t *testing.T) {
	t.Parallel()
	club := newClub(t, object{"isPublic": false, "isDiscoverable": false, "requiresJoinApproval": true})
	body := func(fields object) object { return fields }
	users := object{"userIds": []string{club.stranger.UserID}}
	for _, c := range []struct {
		method, path string // after the community's id
		body         object
	}{
		{http.MethodGet, "/join", nil},
		{http.MethodPost, "/join", nil},
		{http.MethodDelete, "/join", nil},
		{http.MethodGet, "/join/me", nil},
		{http.MethodPost, "/join/approve", body(object{"userId": club.member.UserID})},
		{http.MethodPost, "/join/reject", body(object{"userId": club.member.UserID})},
		{http.MethodPut, "", body(object{"displayName": "x"})},
		{http.MethodDelete, "", nil},
		{http.MethodGet, "", nil},
		{http.MethodGet, "/users", nil},
		{http.MethodPost, "/users", users},
		{http.MethodDelete, "/users", users},
		{http.MethodPut, "/users/ban", users},
		{http.MethodPut, "/users/unban", users},
		{http.MethodPost, "/users/roles", body(object{"userIds": []string{club.member.UserID}, "roles": []string{"community-moderator"}})},
		{http.MethodDelete, "/leave", nil},
	} {
		path := func(id string) string {
			if len(c.path) >= 5 && c.path[:5] == "/join" {
				return joinPath(id) + c.path[5:]
			}
			return communitiesPath + "/" + id + c.path
		}
		for name, by := range map[string]*apptest.Client{"stranger": club.stranger, "banned": club.banned} {
			t.Run(c.method+" "+c.path+" as "+name, func(t *testing.T) {
				var sent any
				if c.body != nil {
					sent = c.body
				}
				want := by.Do(t, c.method, path(unknownID), sent)
				got := by.Do(t, c.method, path(club.id), sent)
				requireFailure(t, notFound, want)
				requireFailure(t, notFound, got)
				require.Equal(t, string(want.Body), string(got.Body))
			})
		}
	}
	requireFailure(t, notAllowed, club.member.Do(t, http.MethodPost, joinPath(club.id)+"/reject", object{"userId": club.stranger.UserID}))
	invitation := newInvitation(t, club.boss, inviteMembers(club.id, club.stranger))
	require.Equal(t, "approved", ask(t, club.stranger, club.id)["status"], "who is invited knows of it")
	require.Equal(t, "approved", invitationOf(t, club.stranger, invitation)["status"])
	require.Equal(t, "approved", myRequest(t, club.stranger, club.id)["status"])
}

// TestOwnJoinRequestInHiddenCommunity checks that users can still read and withdraw their own join request after the
// community became hidden.
func TestOwnJoinRequestInHiddenCommunity(t *testing.T) {
	t.Parallel()
	boss, c := newUser(t, region.EU, "boss"), newUser(t, region.US, "c")
	id := newApprovalCommunity(t, boss, object{"isPublic": false, "isDiscoverable": true})
	ask(t, c, id)
	boss.Do(t, http.MethodPut, communitiesPath+"/"+id, object{"isDiscoverable": false}).OK(t)
	require.Equal(t, "pending", myRequest(t, c, id)["status"])
	c.Do(t, http.MethodDelete, joinPath(id), nil).OK(t)
	require.Equal(t, "cancelled", myRequest(t, c, id)["status"])
}

// TestFormerMemberGetsNoHiddenCommunity reads a post of a hidden community in a batch after its membership has ended.
// Nothing in the answer names the community.
func TestFormerMemberGetsNoHiddenCommunity(t *testing.T) {
	t.Parallel()
	boss, former := newUser(t, region.EU, "boss"), newUser(t, region.US, "former")
	hidden := newCommunity(t, boss, object{"isPublic": false, "isDiscoverable": false, "userIds": []string{former.UserID}})
	open := newCommunity(t, boss)
	post, other := newPost(t, boss, hidden), newPost(t, boss, open)
	batch := "/api/v3/posts/list?postIds[]=" + post + "&postIds[]=" + other
	require.Contains(t, string(former.Do(t, http.MethodGet, batch, nil).OK(t).Body), hidden)
	former.Do(t, http.MethodDelete, communitiesPath+"/"+hidden+"/leave", nil).OK(t)
	for _, path := range []string{batch, "/api/v1/me/following-feeds", "/api/v1/me/global-feeds"} {
		answer := former.Do(t, http.MethodGet, path, nil)
		require.NotContains(t, string(answer.Body), hidden, path)
	}
	require.Equal(t, []string{other}, former.Do(t, http.MethodGet, batch, nil).OK(t).Strings(t, "posts", "postId"))
}
