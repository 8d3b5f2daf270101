package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// ban bans users from the channel.
func (c *chat) ban(t *testing.T, by *apptest.Client, users ...*apptest.Client) {
	t.Helper()
	by.Do(t, http.MethodPut, c.path("/users/ban"), object{"userIds": userIDs(users...)}).OK(t)
}

// promote gives users the role of a moderator in the channel.
func (c *chat) promote(t *testing.T, users ...*apptest.Client) {
	t.Helper()
	c.boss.Do(t, http.MethodPost, c.path("/users/roles"), object{"role": "channel-moderator", "userIds": userIDs(users...)}).OK(t)
}

// TestMessageAuthorization reads and writes with every relation to a channel, in its default subchannel and in
// another one.
func TestMessageAuthorization(t *testing.T) {
	t.Parallel()
	boss, member, stranger := newUser(t, region.EU, "boss"), newUser(t, region.US, "member"), newUser(t, region.SG, "stranger")
	c := newChat(t, boss, member)
	other := c.subchannel(t, boss, "other")
	for name, tc := range map[string]struct {
		feed string
	}{"default": {c.id}, "another": {other}} {
		t.Run(name, func(t *testing.T) {
			at := &chat{id: tc.feed}
			id := at.newMessage(t, member, "hello")
			tries := func(by *apptest.Client) []*apptest.Response {
				return []*apptest.Response{
					at.sendMessage(t, by, "x"),
					by.Do(t, http.MethodGet, messagesPath+"/"+id, nil),
					at.messages(t, by, nil),
					by.Do(t, http.MethodGet, subchannelsPath+"/"+tc.feed, nil),
					by.Do(t, http.MethodPost, messagesPath+"/"+id+"/flags", nil),
					by.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceId": id, "referenceType": "message", "reactionName": "like"}),
					by.Do(t, http.MethodGet, markersPath+"/messages/"+id+"/read-users", nil),
				}
			}
			for _, r := range tries(stranger) {
				requireRefused(t, r, http.StatusForbidden, 400301)
			}
			for _, r := range tries(member) {
				r.OK(t)
			}
			c.ban(t, boss, member)
			for _, r := range tries(member) {
				requireRefused(t, r, http.StatusForbidden, 400304)
			}
			requireRefused(t, member.Do(t, http.MethodPut, messagesPath+"/"+id, object{"data": object{"text": "x"}}), http.StatusForbidden, 400304)
			requireRefused(t, member.Do(t, http.MethodDelete, messagesPath+"/"+id, nil), http.StatusForbidden, 400304)
			boss.Do(t, http.MethodPut, c.path("/users/unban"), object{"userIds": userIDs(member)}).OK(t)
			boss.Do(t, http.MethodPost, c.path("/users"), object{"userIds": userIDs(member)}).OK(t)
			at.newMessage(t, member, "again")
		})
	}
}

func TestMutedMembers(t *testing.T) {
	t.Parallel()
	boss, member, mod := newUser(t, region.EU, "boss"), newUser(t, region.US, "member"), newUser(t, region.SG, "mod")
	c := newChat(t, boss, member, mod)
	c.promote(t, mod)
	other := &chat{id: c.subchannel(t, boss, "other")}
	id := c.newMessage(t, member, "hello")
	edit := func() *apptest.Response {
		t.Helper()
		return member.Do(t, http.MethodPut, messagesPath+"/"+id, object{"data": object{"text": "x"}})
	}
	boss.Do(t, http.MethodPut, "/api/v2/channel/"+c.id+"/users/mute", object{"userIds": userIDs(member), "mutePeriod": -1}).OK(t)
	for _, r := range []*apptest.Response{c.sendMessage(t, member, "x"), other.sendMessage(t, member, "x"), edit()} {
		requireRefused(t, r, http.StatusForbidden, 400302)
	}
	getMessage(t, member, id) // still reads
	boss.Do(t, http.MethodPut, "/api/v2/channel/"+c.id+"/users/mute", object{"userIds": userIDs(member), "mutePeriod": 0}).OK(t)
	edit().OK(t)
	boss.Do(t, http.MethodPut, "/api/v2/channel/"+c.id+"/mute", object{"mutePeriod": 60_000}).OK(t)
	for _, r := range []*apptest.Response{c.sendMessage(t, member, "x"), other.sendMessage(t, member, "x"), edit()} {
		requireRefused(t, r, http.StatusForbidden, 400303)
	}
	c.newMessage(t, mod, "a moderator goes on")
	boss.Do(t, http.MethodPut, "/api/v2/channel/"+c.id+"/mute", object{"mutePeriod": 0}).OK(t)
	c.newMessage(t, member, "another message")
}

func TestOnlyModeratorsWriteInBroadcasts(t *testing.T) {
	t.Parallel()
	boss, member := newUser(t, region.EU, "boss"), newUser(t, region.US, "member")
	r := admin(t).Do(t, http.MethodPost, "/api/v3/channels",
		object{"type": "broadcast", "displayName": "news", "userIds": userIDs(boss, member)})
	c := &chat{id: r.OK(t).String(t, "channels.0._id"), boss: admin(t)}
	c.promote(t, boss)
	id := c.newMessage(t, boss, "news")
	requireRefused(t, c.sendMessage(t, member, "x"), http.StatusForbidden, 400301)
	require.Equal(t, object{"text": "news"}, getMessage(t, member, id)["data"])
	member.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceId": id, "referenceType": "message", "reactionName": "like"}).OK(t)
}

func TestChangeMessagesOfOthers(t *testing.T) {
	t.Parallel()
	boss, author, mod := newUser(t, region.EU, "boss"), newUser(t, region.US, "author"), newUser(t, region.SG, "mod")
	c := newChat(t, boss, author, mod)
	for _, by := range []*apptest.Client{mod, admin(t)} {
		id := c.newMessage(t, author, "hello")
		if by == mod {
			requireRefused(t, by.Do(t, http.MethodPut, messagesPath+"/"+id, object{"data": object{"text": "x"}}), http.StatusForbidden, 400300)
			requireRefused(t, by.Do(t, http.MethodDelete, messagesPath+"/"+id, nil), http.StatusForbidden, 400300)
			requireRefused(t, by.Do(t, http.MethodDelete, messagesPath+"/"+id+"/flags/all", nil), http.StatusForbidden, 400300)
			c.promote(t, mod)
		}
		edited := requireMessage(t, by.Do(t, http.MethodPut, messagesPath+"/"+id, object{"data": object{"text": "milder"}}))
		require.Equal(t, author.UserID, edited["creatorPublicId"])
		require.Equal(t, true, requireMessage(t, by.Do(t, http.MethodDelete, messagesPath+"/"+id, nil))["isDeleted"])
	}
	requireRefused(t, c.sendMessage(t, admin(t), "x"), http.StatusForbidden, 400300)
}

// TestDeleteChannelContent checks that the content of a channel is deleted with it.
func TestDeleteChannelContent(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	c := newChat(t, boss)
	id := c.newMessage(t, boss, "hello")
	boss.Do(t, http.MethodDelete, c.path(""), nil).OK(t)
	for _, r := range []*apptest.Response{
		boss.Do(t, http.MethodGet, messagesPath+"/"+id, nil), c.messages(t, boss, nil), c.sendMessage(t, boss, "x"),
		boss.Do(t, http.MethodGet, subchannelsPath+"/"+c.id, nil), boss.Do(t, http.MethodGet, subchannelsPath+"/channel/"+c.id, nil),
	} {
		requireRefused(t, r, http.StatusNotFound, 400400)
	}
}

func TestFlagsOfMessages(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	var members []*apptest.Client
	for i := range 4 {
		members = append(members, newUser(t, region.All()[i%3], "member"))
	}
	c := newChat(t, boss, members...)
	id := c.newMessage(t, boss, "hello")
	flags := messagesPath + "/" + id + "/flags"
	byMe := func(by *apptest.Client) bool {
		t.Helper()
		return by.Do(t, http.MethodGet, flags, nil).OK(t).Bool(t, "result")
	}
	for i, m := range members[:3] {
		require.False(t, byMe(m))
		for range 2 { // the second time has no effect
			requireFlags(t, requireMessage(t, m.Do(t, http.MethodPost, flags, object{"reason": "Others", "detail": "because"})), 1)
			requireFlags(t, getMessage(t, boss, id), i+1)
		}
		require.True(t, byMe(m))
	}
	for range 2 {
		requireFlags(t, requireMessage(t, members[0].Do(t, http.MethodDelete, flags, nil)), 0)
		requireFlags(t, getMessage(t, boss, id), 2)
	}
	require.False(t, byMe(members[0]))
	requireFlags(t, requireMessage(t, boss.Do(t, http.MethodDelete, flags+"/all", nil)), 0)
	require.False(t, byMe(members[1]))
}

// TestNetworkSettingsOfMessages uses a network of its own because it changes network settings.
func TestNetworkSettingsOfMessages(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	n.Admin(region.EU).Do(t, http.MethodPut, settingsPath, object{"flagLimit": 2}).OK(t)
	boss := n.NewUser(t, region.EU, "boss")
	var members []*apptest.Client
	for _, home := range region.All() {
		members = append(members, n.NewUser(t, home, "member"))
	}
	c := newChat(t, boss, members...)
	flags := messagesPath + "/" + c.newMessage(t, boss, "hello") + "/flags"
	for _, m := range members[:2] {
		m.Do(t, http.MethodPost, flags, nil).OK(t)
	}
	requireFailure(t, flagLimit, members[2].Do(t, http.MethodPost, flags, nil))
	members[1].Do(t, http.MethodPost, flags, nil).OK(t) // a repeated flag does not count
	members[0].Do(t, http.MethodDelete, flags, nil).OK(t)
	members[2].Do(t, http.MethodPost, flags, nil).OK(t)
	n.Admin(region.EU).Do(t, http.MethodPut, "/api/v3/network-settings/moderation", object{"isReportEnabled": false}).OK(t)
	requireRefused(t, members[1].Do(t, http.MethodPost, flags, nil), http.StatusForbidden, 400300)

	all := object{"mentionedUsers": []object{{"type": "channel", "userIds": userIDs(members...)}}}
	requireRefused(t, c.sendMessage(t, boss, "@all", all), http.StatusForbidden, 400300)
	n.Admin(region.EU).Do(t, http.MethodPut, "/api/v3/network-settings/chat", object{"isAllowMentionedChannelEnabled": true}).OK(t)
	require.Equal(t, []any{object{"type": "channel", "userIds": []any{}, "userPublicIds": []any{}}},
		requireMessage(t, c.sendMessage(t, boss, "@all", all))["mentionedUsers"])
}

// TestAutoDeleteFlaggedMessages checks that a message is deleted at the number of flags that its channel sets.
func TestAutoDeleteFlaggedMessages(t *testing.T) {
	t.Parallel()
	boss, one, two := newUser(t, region.EU, "boss"), newUser(t, region.US, "one"), newUser(t, region.SG, "two")
	c := newChat(t, boss, one, two)
	boss.Do(t, http.MethodPut, c.path(""), object{"autoDeleteMessageByFlagLimit": 2}).OK(t)
	kept := c.newMessage(t, boss, "not deleted: it is off")
	for _, by := range []*apptest.Client{one, two} {
		require.Equal(t, false, requireMessage(t, by.Do(t, http.MethodPost, messagesPath+"/"+kept+"/flags", nil))["isDeleted"])
	}
	boss.Do(t, http.MethodPut, c.path(""), object{"messageAutoDeleteEnabled": true}).OK(t)
	reader := boss.ConnectMQTT(t).RequireSubscribe(t, boss.Network.NetworkID+"/chat/"+c.id+"/#")
	id := c.newMessage(t, boss, "hello")
	require.Equal(t, false, requireMessage(t, one.Do(t, http.MethodPost, messagesPath+"/"+id+"/flags", nil))["isDeleted"])
	require.Equal(t, true, requireMessage(t, two.Do(t, http.MethodPost, messagesPath+"/"+id+"/flags", nil))["isDeleted"])
	require.Equal(t, true, getMessage(t, boss, id)["isDeleted"])
	e, _ := reader.Until(t, "message.deleted")
	require.Equal(t, id, e.Response().String(t, "data.messages.0.messageId"))
	require.Equal(t, false, getMessage(t, boss, kept)["isDeleted"])
}

func TestReactionsToMessages(t *testing.T) {
	t.Parallel()
	boss, member := newUser(t, region.EU, "boss"), newUser(t, region.US, "member")
	c := newChat(t, boss, member)
	id := c.newMessage(t, boss, "hello")
	like := object{"referenceId": id, "referenceType": "message", "reactionName": "like", "referenceVersion": 5}
	added := member.Do(t, http.MethodPost, "/api/v2/reactions", like).OK(t).String(t, "addedId")
	require.Equal(t, added, member.At(region.SG).Do(t, http.MethodPost, "/api/v2/reactions", like).OK(t).String(t, "addedId"))
	boss.Do(t, http.MethodPost, "/api/v2/reactions", with(like, object{"reactionName": "love"})).OK(t)
	m := getMessage(t, member, id)
	require.Equal(t, object{"like": 1.0, "love": 1.0}, m["reactions"])
	require.InDelta(t, 2, m["reactionCount"], 0)
	require.Equal(t, []any{"like"}, m["myReactions"])
	r := member.Do(t, http.MethodGet, "/api/v3/reactions?referenceType=message&referenceVersion=5&referenceId="+id, nil).OK(t)
	require.Equal(t, "message", r.String(t, "reactions.0.referenceType"))
	require.ElementsMatch(t, []string{boss.UserID, member.UserID}, r.Strings(t, "reactions.0.reactors", "userId"))
	requireWrappedReactions(t, member, boss, r, id)
	member.Do(t, http.MethodDelete, "/api/v2/reactions", like).OK(t)
	requireRefused(t, member.Do(t, http.MethodDelete, "/api/v2/reactions", like), http.StatusNotFound, 400400)
	require.Equal(t, object{"love": 1.0}, getMessage(t, member, id)["reactions"])
	boss.Do(t, http.MethodDelete, messagesPath+"/"+id, nil).OK(t)
	requireRefused(t, member.Do(t, http.MethodPost, "/api/v2/reactions", like), http.StatusNotFound, 400400)
}

// requireWrappedReactions checks that the older list of the reactions to a message has what the list r has.
func requireWrappedReactions(t *testing.T, member, boss *apptest.Client, r *apptest.Response, id string) {
	t.Helper()
	path := "/api/v2/reactions?referenceType=message&referenceId="
	wrapped := member.Do(t, http.MethodGet, path+id, nil).OK(t)
	require.Equal(t, "success", wrapped.String(t, "status"))
	require.Equal(t, r.Get(t, "reactions"), wrapped.Get(t, "data.reactions"))
	require.Equal(t, r.Get(t, "users"), wrapped.Get(t, "data.users"))
	named := listing{by: member, path: "/api/v2/reactions", list: "data.reactions.0.reactors", id: "userId"}.
		with("referenceType", "message").with("referenceId", id).with("reactionName", "love")
	named.requireOrder(t, []string{boss.UserID})
	named.requireLimits(t)
	stranger := newUser(t, region.SG, "stranger")
	requireFailure(t, notFound, stranger.Do(t, http.MethodGet, path+unknownID, nil))
	requireFailure(t, invalid("referenceType"), stranger.Do(t, http.MethodGet, "/api/v2/reactions?referenceType=room&referenceId="+id, nil))
}

// TestMessagesInHiddenChannels checks that messages in a channel that the caller does not see look unknown.
func TestMessagesInHiddenChannels(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	_, id := g.chat(t, false)
	for method, suffix := range map[string]string{http.MethodGet: "", http.MethodDelete: "", http.MethodPost: "/flags"} {
		requireRefused(t, g.principals[stranger].Do(t, method, messagesPath+"/"+id+suffix, nil), http.StatusNotFound, 400400)
	}
}
