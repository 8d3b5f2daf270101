package conformance

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

var subchannelAggregate = []string{"messageFeeds", "messages", "users", "files"}

// requireSubchannel checks an answer with one subchannel and returns the subchannel.
func requireSubchannel(t *testing.T, r *apptest.Response) object {
	t.Helper()
	a := requireAggregate(t, r, "", subchannelAggregate)
	f := a.one("messageFeeds")
	if id := text(f, "messagePreviewId"); id != "" {
		a.requireHas("messageFeeds", "messages", id)
	}
	if id := text(f, "creatorPublicId"); id != "" {
		a.requireHas("messageFeeds", "users", id)
	}
	return f
}

// subchannel creates a subchannel of the chat.
func (c *chat) subchannel(t *testing.T, by *apptest.Client, name string) string {
	t.Helper()
	nextMillisecond()
	r := by.Do(t, http.MethodPost, subchannelsPath, object{"channelId": c.id, "name": name})
	return text(requireSubchannel(t, r), "messageFeedId")
}

func TestSubchannel(t *testing.T) {
	t.Parallel()
	boss, member := newUser(t, region.EU, "boss"), newUser(t, region.US, "member")
	c := newChat(t, boss, member)
	f := requireSubchannel(t, boss.Do(t, http.MethodPost, subchannelsPath, object{"channelId": c.id, "name": "owls"}))
	require.Equal(t, "owls", f["name"])
	require.Equal(t, c.id, f["channelId"])
	require.Equal(t, boss.UserID, f["creatorPublicId"])
	require.InDelta(t, 0, f["childCount"], 0)
	require.Equal(t, boss.Network.NetworkID+"/chat/"+c.id+"/"+text(f, "messageFeedId"), f["path"])
	id := text(f, "messageFeedId")
	path := subchannelsPath + "/" + id
	require.Equal(t, f, requireSubchannel(t, member.Do(t, http.MethodGet, path, nil)))

	in := &chat{id: id}
	m := requireMessage(t, in.sendMessage(t, member, "hello"))
	require.InDelta(t, 1, m["segment"], 0, "every subchannel counts for itself")
	require.Equal(t, c.id, m["channelId"])
	require.InDelta(t, 1, requireMessage(t, c.sendMessage(t, member, "hello"))["segment"], 0)
	got := requireSubchannel(t, member.Do(t, http.MethodGet, path, nil))
	require.Equal(t, m["messageId"], got["lastMessageId"])
	require.Equal(t, m["createdAt"], got["lastMessageTimestamp"])
	require.InDelta(t, 1, got["childCount"], 0)
	member.Do(t, http.MethodDelete, messagesPath+"/"+text(m, "messageId"), nil).OK(t)
	got = requireSubchannel(t, member.Do(t, http.MethodGet, path, nil))
	require.Empty(t, got["messagePreviewId"], "deleted messages are no previews")
	require.InDelta(t, 1, got["childCount"], 0)

	nextMillisecond()
	renamed := requireSubchannel(t, boss.Do(t, http.MethodPut, path, object{"name": "falcons"}))
	require.Equal(t, "falcons", renamed["name"])
	require.Greater(t, text(renamed, "editedAt"), text(f, "editedAt"))
	for _, r := range []*apptest.Response{
		member.Do(t, http.MethodPost, subchannelsPath, object{"channelId": c.id, "name": "x"}),
		member.Do(t, http.MethodPut, path, object{"name": "x"}),
		member.Do(t, http.MethodDelete, path, nil),
		boss.Do(t, http.MethodDelete, subchannelsPath+"/"+c.id, nil), // the default subchannel
		admin(t).Do(t, http.MethodDelete, subchannelsPath+"/"+c.id, nil),
	} {
		requireRefused(t, r, http.StatusForbidden, 400300)
	}
	require.Equal(t, true, requireSubchannel(t, boss.Do(t, http.MethodDelete, path, nil))["isDeleted"])
	for _, r := range []*apptest.Response{
		boss.Do(t, http.MethodGet, path, nil), boss.Do(t, http.MethodDelete, path, nil), boss.Do(t, http.MethodPut, path, object{"name": "x"}),
		in.sendMessage(t, member, "x"), in.messages(t, member, nil), member.Do(t, http.MethodGet, messagesPath+"/"+text(m, "messageId"), nil),
		boss.Do(t, http.MethodPost, subchannelsPath, object{"channelId": "nothing", "name": "x"}),
	} {
		requireRefused(t, r, http.StatusNotFound, 400400)
	}
	inChannel := c.newMessage(t, boss, "still there")
	batch := boss.Do(t, http.MethodGet, messagesPath+"/list?messageIds[]="+text(m, "messageId")+"&messageIds[]="+inChannel, nil)
	require.Equal(t, []string{inChannel}, batch.OK(t).Strings(t, "messages", "messageId"))
	for _, body := range []object{{"channelId": c.id}, {"channelId": c.id, "name": strings.Repeat("x", 101)}, {"name": "x"}} {
		requireRefused(t, boss.Do(t, http.MethodPost, subchannelsPath, body), http.StatusUnprocessableEntity, 500000)
	}
}

// TestSubchannelOfAConversation checks that every member of a conversation, which has no moderators, may create
// subchannels.
func TestSubchannelOfAConversation(t *testing.T) {
	t.Parallel()
	one, two, third := newUser(t, region.EU, "one"), newUser(t, region.US, "two"), newUser(t, region.SG, "third")
	r := one.Do(t, http.MethodPost, "/api/v3/channels/conversation", object{"userIds": userIDs(two)}).OK(t)
	c := &chat{id: r.String(t, "channels.0._id")}
	id := c.subchannel(t, two, "plans")
	require.Equal(t, "plan", requireSubchannel(t, one.Do(t, http.MethodPut, subchannelsPath+"/"+id, object{"name": "plan"}))["name"])
	requireRefused(t, third.Do(t, http.MethodGet, subchannelsPath+"/"+id, nil), http.StatusNotFound, 400400)
	(&chat{id: id}).newMessage(t, one, "hello")
	requireRefused(t, (&chat{id: id}).sendMessage(t, third, "hello"), http.StatusNotFound, 400400)
	admin(t).Do(t, http.MethodPut, "/api/v2/channel/"+c.id+"/users/mute", object{"userIds": userIDs(two), "mutePeriod": -1}).OK(t)
	for _, r := range []*apptest.Response{
		two.Do(t, http.MethodPost, subchannelsPath, object{"channelId": c.id, "name": "x"}),
		two.Do(t, http.MethodPut, subchannelsPath+"/"+id, object{"name": "x"}),
		two.Do(t, http.MethodDelete, subchannelsPath+"/"+id, nil), (&chat{id: id}).sendMessage(t, two, "x"),
	} {
		requireRefused(t, r, http.StatusForbidden, 400302)
	}
}

func TestListSubchannels(t *testing.T) {
	t.Parallel()
	boss, stranger := newUser(t, region.SG, "boss"), newUser(t, region.US, "stranger")
	c := newChat(t, boss)
	var ids []string
	for _, name := range []string{"1", "2", "3", "4"} {
		ids = append(ids, c.subchannel(t, boss, name))
	}
	(&chat{id: ids[3]}).newMessage(t, boss, "gone with it")
	boss.Do(t, http.MethodDelete, subchannelsPath+"/"+ids[3], nil).OK(t)
	(&chat{id: ids[0]}).newMessage(t, boss, "the latest")
	list := func(query url.Values) *apptest.Response {
		t.Helper()
		r := boss.Do(t, http.MethodGet, subchannelsPath+"/channel/"+c.id+"?"+query.Encode(), nil)
		requireAggregate(t, r, "", subchannelAggregate)
		return r
	}
	names := func(query url.Values) []string {
		t.Helper()
		return list(query).Strings(t, "messageFeeds", "messageFeedId")
	}
	require.Equal(t, []string{ids[0], ids[3], ids[2], ids[1], c.id}, names(nil))
	require.Equal(t, []string{ids[0], ids[2], ids[1], c.id}, names(url.Values{"isDeleted": {"false"}}))
	require.Equal(t, []string{ids[3]}, names(url.Values{"isDeleted": {"true"}}))
	for _, query := range []url.Values{nil, {"isDeleted": {"true"}}} {
		require.NotContains(t, string(list(query).Body), "gone with it")
	}
	without := url.Values{"isDeleted": {"false"}, "excludeDefaultMessageFeed": {"true"}}
	require.Equal(t, []string{ids[0], ids[2], ids[1]}, names(without))
	require.Equal(t, []string{ids[1], ids[2], ids[0]}, names(withParameter(without, "options[sortBy]", "lastMessageTimestampAsc")))

	first := list(withParameter(without, "options[limit]", "2"))
	require.Equal(t, []string{ids[0], ids[2]}, first.Strings(t, "messageFeeds", "messageFeedId"))
	second := list(withParameter(without, "options[token]", first.String(t, "paging.next")))
	require.Equal(t, []string{ids[1]}, second.Strings(t, "messageFeeds", "messageFeedId"))
	require.Empty(t, second.String(t, "paging.next"))
	back := list(withParameter(without, "options[token]", second.String(t, "paging.previous")))
	require.Equal(t, []string{ids[0], ids[2]}, back.Strings(t, "messageFeeds", "messageFeedId"))

	batch := "?messageFeedIds[]=" + strings.Join([]string{ids[1], ids[3], c.id, "x", ids[1]}, "&messageFeedIds[]=")
	r := boss.Do(t, http.MethodGet, subchannelsPath+"/list"+batch, nil)
	requireAggregate(t, r, "", subchannelAggregate)
	require.Equal(t, []string{ids[1], c.id}, r.Strings(t, "messageFeeds", "messageFeedId"))
	require.Empty(t, stranger.Do(t, http.MethodGet, subchannelsPath+"/list"+batch, nil).OK(t).List(t, "messageFeeds"))
	requireRefused(t, stranger.Do(t, http.MethodGet, subchannelsPath+"/channel/"+c.id, nil), http.StatusForbidden, 400301)
	requireRefused(t, boss.Do(t, http.MethodGet, subchannelsPath+"/channel/nothing", nil), http.StatusNotFound, 400400)
	requireRefused(t, boss.Do(t, http.MethodGet, subchannelsPath+"/channel/"+c.id+"?options[limit]=101", nil),
		http.StatusUnprocessableEntity, 500000)
}

// withParameter returns query with one more parameter.
func withParameter(query url.Values, name, value string) url.Values {
	more := url.Values{name: {value}}
	maps.Copy(more, query)
	return more
}

// TestPermanentDeletion checks that no row of a permanently deleted subchannel is left in the database.
func TestPermanentDeletion(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	c := newChat(t, boss)
	in := &chat{id: c.subchannel(t, boss, "short")}
	for range 3 {
		in.newMessage(t, boss, "x", object{"parentId": ""})
	}
	in.newMessage(t, boss, "reply", object{"parentId": in.newMessage(t, boss, "parent")})
	require.Positive(t, countRows(t, boss.Network, "messages", in.id))
	boss.Do(t, http.MethodDelete, subchannelsPath+"/"+in.id+"?permanent=true", nil).OK(t)
	require.Eventually(t, func() bool { return countRows(t, boss.Network, "messages", in.id) == 0 }, apptest.Patience, tick)
	require.Eventually(t, func() bool { // its row is deleted by a transaction of its own
		return len(boss.Do(t, http.MethodGet, subchannelsPath+"/channel/"+c.id+"?excludeDefaultMessageFeed=true", nil).OK(t).List(t,
			"messageFeeds")) == 0
	}, apptest.Patience, tick)
}
