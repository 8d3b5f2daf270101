package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// newStaff returns a new user with a network role.
func newStaff(t *testing.T, code region.Code, role string) *apptest.Client {
	t.Helper()
	c := newUser(t, code, role)
	admin(t).Do(t, http.MethodPut, "/api/v3/users", object{"userId": c.UserID, "roles": []string{role}}).OK(t)
	return c
}

// promote makes a member a moderator of a community.
func promote(t *testing.T, by *apptest.Client, communityID string, c *apptest.Client) {
	t.Helper()
	by.Do(t, http.MethodPost, membersPath(communityID)+"/roles", object{"role": "community-moderator", "userIds": []string{c.UserID}}).OK(t)
}

// TestModeratorsDoNotModerateTheirSuperiors has moderators of a community act on its creator, on each other and on
// staff of the network who are members.
func TestModeratorsDoNotModerateTheirSuperiors(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	mod, peer, staff := newMember(t, club.id), newMember(t, club.id), newStaff(t, region.SG, "moderator")
	staff.Join(t, club.id)
	promote(t, club.boss, club.id, mod)
	promote(t, club.boss, club.id, peer)
	users := membersPath(club.id)
	on := func(c *apptest.Client) object { return object{"userIds": []string{c.UserID}} }
	role := func(c *apptest.Client) object { return with(on(c), object{"role": "community-moderator"}) }
	for name, target := range map[string]*apptest.Client{"the creator": club.boss, "another moderator": peer, "staff": staff} {
		requireAttempts(t, []attempt{
			{"ban " + name, mod, http.MethodPut, users + "/ban", on(target), notAllowed},
			{
				"ban a member and " + name, mod, http.MethodPut, users + "/ban",
				object{"userIds": []string{club.member.UserID, target.UserID}},
				notAllowed,
			},
			{"remove " + name, mod, http.MethodDelete, users, on(target), notAllowed},
			{"promote " + name, mod, http.MethodPost, users + "/roles", role(target), notAllowed},
			{"demote " + name, mod, http.MethodDelete, users + "/roles", role(target), notAllowed},
		})
	}
	requireAttempts(t, []attempt{
		{"the community by a moderator", mod, http.MethodDelete, communitiesPath + "/" + club.id, nil, notAllowed},
		{"ban a member", mod, http.MethodPut, users + "/ban", on(club.member), failure{}},
		{"step down", peer, http.MethodDelete, users + "/roles", role(peer), failure{}},
		{"ban by the creator", club.boss, http.MethodPut, users + "/ban", on(mod), failure{}},
		{"demote the creator by staff", newStaff(t, region.US, "super-moderator"), http.MethodPut, users + "/ban", on(club.boss), failure{}},
		{"the community by its banned creator", club.boss, http.MethodDelete, communitiesPath + "/" + club.id, nil, banned},
	})
	other := newCommunity(t, newUser(t, region.EU, "boss"))
	newStaff(t, region.US, "super-moderator").Do(t, http.MethodDelete, communitiesPath+"/"+other, nil).OK(t)
	boss := newUser(t, region.EU, "boss")
	boss.Do(t, http.MethodDelete, communitiesPath+"/"+newCommunity(t, boss), nil).OK(t)
}

// TestContentOfSuperiors has moderators of a community edit and delete what others wrote.
func TestContentOfSuperiors(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	mod, peer, staff := newMember(t, club.id), newMember(t, club.id), newStaff(t, region.SG, "moderator")
	staff.Join(t, club.id)
	promote(t, club.boss, club.id, mod)
	promote(t, club.boss, club.id, peer)
	edit := object{"data": object{"text": "other words"}}
	for name, test := range map[string]struct {
		author *apptest.Client
		want   failure
	}{
		"a member": {club.member, failure{}}, "another moderator": {peer, failure{}}, "the creator": {club.boss, notAllowed},
		"staff": {staff, notAllowed},
	} {
		post := newPost(t, test.author, club.id)
		comment := newComment(t, test.author, post)
		requireAttempts(t, []attempt{
			{"edit a comment of " + name, mod, http.MethodPut, commentsPath + "/" + comment, edit, test.want},
			{"delete a comment of " + name, mod, http.MethodDelete, "/api/v4/comments/" + comment, nil, test.want},
			{"edit a post of " + name, mod, http.MethodPut, "/api/v4/posts/" + post, edit, test.want},
			{"delete a post of " + name, mod, http.MethodDelete, "/api/v4/posts/" + post, nil, test.want},
		})
	}
	for name, test := range map[string]struct {
		creator *apptest.Client
		want    failure
	}{"another moderator": {peer, failure{}}, "the creator": {club.boss, notAllowed}} {
		path := eventsPath + "/" + newEvent(t, test.creator, eventIn(club.id))
		requireAttempts(t, []attempt{
			{"change an event of " + name, mod, http.MethodPut, path, object{"title": "other words"}, test.want},
			{"delete an event of " + name, mod, http.MethodDelete, path, nil, test.want},
		})
	}
	wall := newWallPost(t, staff, object{"targetId": club.member.UserID})
	club.member.Do(t, http.MethodDelete, "/api/v4/posts/"+wall, nil).OK(t) // the owner of a wall decides what is on it
}

// TestChannelModeratorsDoNotModerateTheirSuperiors is the same for channels.
func TestChannelModeratorsDoNotModerateTheirSuperiors(t *testing.T) {
	t.Parallel()
	boss, mod, member := newUser(t, region.EU, "boss"), newUser(t, region.US, "mod"), newUser(t, region.SG, "member")
	staff := newStaff(t, region.US, "moderator")
	c := newChat(t, boss, mod, member, staff)
	path := "/api/v3/channels/" + c.id
	on := func(c *apptest.Client) object { return object{"userIds": []string{c.UserID}} }
	boss.Do(t, http.MethodPost, path+"/users/roles", with(on(mod), object{"role": "channel-moderator"})).OK(t)
	message := c.newMessage(t, boss, "hello")
	for name, target := range map[string]*apptest.Client{"the creator": boss, "staff": staff} {
		requireAttempts(t, []attempt{
			{"ban " + name, mod, http.MethodPut, path + "/users/ban", on(target), notAllowed},
			{
				"mute " + name, mod, http.MethodPut, "/api/v2/channel/" + c.id + "/users/mute", with(on(target), object{"mutePeriod": 1000}),
				notAllowed,
			},
			{"remove " + name, mod, http.MethodDelete, path + "/users", on(target), notAllowed},
			{"demote " + name, mod, http.MethodDelete, path + "/users/roles", with(on(target), object{"role": "channel-moderator"}), notAllowed},
		})
	}
	requireAttempts(t, []attempt{
		{"a message of the creator", mod, http.MethodDelete, messagesPath + "/" + message, nil, notAllowed},
		{"a message of a member", mod, http.MethodDelete, messagesPath + "/" + c.newMessage(t, member, "hi"), nil, failure{}},
		{"the channel", mod, http.MethodDelete, "/api/v3/channels/" + c.id, nil, notAllowed},
		{
			"mute a member", mod, http.MethodPut, "/api/v2/channel/" + c.id + "/users/mute", with(on(member), object{"mutePeriod": 1000}),
			failure{},
		},
		{"ban a moderator by the creator", boss, http.MethodPut, path + "/users/ban", on(mod), failure{}},
		{"the channel by its creator", boss, http.MethodDelete, "/api/v3/channels/" + c.id, nil, failure{}},
	})
}

// TestNetworkRolesDoNotModerateTheirSuperiors has holders of network roles act on each other.
func TestNetworkRolesDoNotModerateTheirSuperiors(t *testing.T) {
	t.Parallel()
	super, peer, global := newStaff(t, region.EU, "super-moderator"), newStaff(t, region.US, "super-moderator"),
		newStaff(t, region.SG, "global-admin")
	mod, user := newStaff(t, region.SG, "moderator"), newUser(t, region.EU, "user")
	rename := func(c *apptest.Client) object { return object{"userId": c.UserID, "displayName": "renamed"} }
	ban := func(c *apptest.Client) object { return object{"userId": c.UserID} }
	sessions := func(c *apptest.Client) string { return "/api/v4/sessions/users/" + c.UserID }
	requireAttempts(t, []attempt{
		{"rename a superior", super, http.MethodPut, "/api/v3/users", rename(global), notAllowed},
		{"rename an equal", super, http.MethodPut, "/api/v3/users", rename(peer), notAllowed},
		{"rename a moderator", super, http.MethodPut, "/api/v3/users", rename(mod), failure{}},
		{"rename oneself", super, http.MethodPut, "/api/v3/users", rename(super), failure{}},
		{"sign a superior out", super, http.MethodDelete, sessions(global), nil, notAllowed},
		{"sign a user out", super, http.MethodDelete, sessions(user), nil, failure{}},
		{"ban a superior", super, http.MethodPost, "/api/v2/users/ban", ban(global), notAllowed},
		{"ban an equal", super, http.MethodPost, "/api/v2/users/ban", ban(peer), notAllowed},
		{"ban a user", super, http.MethodPost, "/api/v2/users/ban", ban(user), failure{}},
		{
			"demote a superior's equal", global, http.MethodPut, "/api/v3/users",
			object{"userId": newStaff(t, region.US, "global-admin").UserID, "roles": []string{"moderator"}},
			notAllowed,
		},
		{
			"demote a super-moderator", global, http.MethodPut, "/api/v3/users",
			object{"userId": peer.UserID, "roles": []string{"moderator"}},
			failure{},
		},
		{
			"demote a global admin by an administrator", admin(t), http.MethodPut, "/api/v3/users",
			object{"userId": global.UserID, "roles": []string{"moderator"}},
			failure{},
		},
	})
	require.Equal(t, "renamed", admin(t).Do(t, http.MethodGet, "/api/v3/users/"+mod.UserID, nil).OK(t).String(t, "users.0.displayName"))
}
