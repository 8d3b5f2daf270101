package conformance

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const channelsPath = "/api/v3/channels"

var (
	channelFields = resource{
		"_id": "id", "channelId": "s", "channelInternalId": "id", "channelPublicId": "s", "type": "s", "displayName": "s", "avatarFileId": "s",
		"isDistinct": "b", "isMuted": "b", "muteTimeout": "ts?", "isRateLimited": "b", "rateLimit": "i", "rateLimitWindow": "i",
		"rateLimitTimeout": "ts?", "messageAutoDeleteEnabled": "b", "autoDeleteMessageByFlagLimit": "i", "memberCount": "i", "messageCount": "i",
		"moderatorMemberCount": "i", "messagePreviewId": "s", "isPublic": "b", "notificationMode": "s", "lastActivity": "ts", "attachedTo": "o?",
		"metadata": "o", "tags": "s[]", "path": "s", "isDeleted": "b", "createdAt": "ts", "updatedAt": "ts",
	}
	channelUserFields = resource{
		"userId": "s", "userInternalId": "id", "userPublicId": "s", "channelId": "s", "channelInternalId": "id", "channelPublicId": "s",
		"membership": "s", "readToSegment": "i", "lastMentionedSegment": "i", "isBanned": "b", "isMuted": "b", "muteTimeout": "ts?",
		"lastActivity": "ts?", "roles": "s[]", "permissions": "s[]", "createdAt": "ts?", "updatedAt": "ts?",
	}
	messagePreviewFields = resource{
		"messageId": "id", "parentId": "s", "channelId": "id", "channelPublicId": "s", "messageFeedId": "id", "data": "o", "dataType": "s",
		"creatorId": "id", "creatorPublicId": "s", "isDeleted": "b", "segment": "i", "createdAt": "ts", "updatedAt": "ts",
	}
	messageFeedInfoFields = resource{"messagePreviewId": "s", "messageFeedId": "id", "name": "s", "createdAt": "ts", "updatedAt": "ts"}

	channelAggregate = []string{"channels", "channelUsers", "messagePreviews", "messageFeedsInfo", "users", "files"}
)

func channelPath(id string) string { return channelsPath + "/" + url.PathEscape(id) }

// newChannel creates a channel and returns its id.
func newChannel(t *testing.T, c *apptest.Client, fields ...object) string {
	t.Helper()
	nextMillisecond()
	body := with(object{"displayName": "channel"}, fields...)
	return c.Do(t, http.MethodPost, channelsPath, body).OK(t).String(t, "channels.0.channelId")
}

// requireChannel checks an answer with one channel and returns the channel.
func requireChannel(t *testing.T, r *apptest.Response) object {
	t.Helper()
	a := requireAggregate(t, r, "", channelAggregate)
	c := a.one("channels")
	require.Equal(t, c["_id"], c["channelInternalId"])
	require.Equal(t, c["channelId"], c["channelPublicId"])
	require.Equal(t, c["_id"], a.one("messageFeedsInfo")["messageFeedId"], "the first subchannel has the channel's internal id")
	require.True(t, strings.HasSuffix(text(c, "path"), "/chat/"+text(c, "_id")))
	for _, u := range a.lists["channelUsers"] {
		require.Equal(t, c["channelId"], u["channelId"])
		a.requireHas("channelUsers", "users", text(u, "userId"))
	}
	return c
}

func getChannel(t *testing.T, c *apptest.Client, id string) object {
	t.Helper()
	return requireChannel(t, c.Do(t, http.MethodGet, channelPath(id), nil))
}

// channelUser returns the caller's membership as the channel shows it.
func channelUser(t *testing.T, c *apptest.Client, id string) object {
	t.Helper()
	r := c.Do(t, http.MethodGet, channelPath(id), nil)
	return requireAggregate(t, r, "", channelAggregate).find("channelUsers", "userId", c.UserID)
}

func TestChannelDefaults(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	require.Subset(t, getChannel(t, boss, newChannel(t, boss)), object{
		"type": "community", "isPublic": true, "notificationMode": "default", "messageAutoDeleteEnabled": false,
		"autoDeleteMessageByFlagLimit": 10.0,
		"avatarFileId":                 "", "metadata": object{}, "tags": []any{}, "memberCount": 1.0, "isDistinct": false,
	})
}

func TestChannel(t *testing.T) {
	t.Parallel()
	boss, friend, stranger := newUser(t, region.EU, "boss"), newUser(t, region.US, "friend"), newUser(t, region.SG, "stranger")
	avatar := fileOf(t, "image")
	r := boss.Do(t, http.MethodPost, channelsPath, object{
		"type": "community", "displayName": "Birds", "avatarFileId": avatar, "metadata": object{"a": []any{1.0, "b"}},
		"tags":    []string{"x", "y", "x"},
		"userIds": []string{friend.UserID, boss.UserID}, "isPublic": true, "notificationMode": "silent",
		"messageAutoDeleteEnabled": true, "autoDeleteMessageByFlagLimit": 7,
	})
	c := requireChannel(t, r)
	require.Subset(t, c, object{
		"type": "community", "displayName": "Birds", "avatarFileId": avatar, "metadata": object{"a": []any{1.0, "b"}}, "tags": []any{"x", "y"},
		"isPublic": true, "notificationMode": "silent", "messageAutoDeleteEnabled": true, "autoDeleteMessageByFlagLimit": 7.0, "memberCount": 2.0,
		"moderatorMemberCount": 1.0, "messageCount": 0.0, "isDeleted": false, "isMuted": false, "isDistinct": false, "attachedTo": nil,
	})
	a := requireAggregate(t, r, "", channelAggregate)
	require.Equal(t, []any{"channel-moderator"}, a.find("channelUsers", "userId", boss.UserID)["roles"])
	require.Contains(t, a.find("channelUsers", "userId", boss.UserID)["permissions"], "BAN_CHANNEL_USER")
	require.Equal(t, []any{"channel-member"}, a.find("channelUsers", "userId", friend.UserID)["roles"])
	id := text(c, "channelId")
	for _, by := range []*apptest.Client{boss, boss.At(region.SG), friend, friend.At(region.SG), admin(t)} {
		require.Equal(t, c, getChannel(t, by, id))
	}
	require.Equal(t, "none", channelUser(t, stranger, id)["membership"])
	require.Equal(t, c, getChannel(t, stranger, id))

	nextMillisecond()
	changed := requireChannel(t, boss.At(region.US).Do(t, http.MethodPut, channelPath(id),
		object{"displayName": "Bees", "tags": []string{"z"}, "metadata": object{"b": 2.0}}))
	require.Subset(t, changed, object{
		"displayName": "Bees", "tags": []any{"z"}, "metadata": object{"b": 2.0}, "avatarFileId": avatar, "notificationMode": "silent",
		"messageAutoDeleteEnabled": true, "autoDeleteMessageByFlagLimit": 7.0,
	})
	require.NotEqual(t, c["updatedAt"], changed["updatedAt"])
	requireFailure(t, notAllowed, friend.Do(t, http.MethodPut, channelPath(id), object{"displayName": "x"}))
	requireFailure(t, notAllowed, stranger.Do(t, http.MethodPut, channelPath(id), object{"displayName": "x"}))
	fields := object{
		"displayName": "Ants", "tags": []any{"y", "z"}, "metadata": object{"c": 3.0}, "avatarFileId": fileOf(t, "image"),
		"notificationMode":         "subscribe",
		"messageAutoDeleteEnabled": false, "autoDeleteMessageByFlagLimit": 9.0,
	}
	require.Subset(t, requireChannel(t, boss.Do(t, http.MethodPut, channelPath(id), with(fields, object{"tags": []string{"y", "z", "y"}}))),
		fields)
	changed = requireChannel(t, admin(t).Do(t, http.MethodPut, channelPath(id), object{"avatarFileId": ""}))
	require.Subset(t, changed, with(fields, object{"avatarFileId": ""}))
	require.Equal(t, changed, getChannel(t, friend, id))

	requireFailure(t, notAllowed, friend.Do(t, http.MethodDelete, channelPath(id), nil))
	gone := boss.Do(t, http.MethodDelete, channelPath(id), nil).OK(t)
	require.True(t, gone.Bool(t, "success"))
	require.True(t, gone.Bool(t, "data.success"))
	require.Equal(t, true, getChannel(t, boss, id)["isDeleted"])
	require.Equal(t, true, getChannel(t, friend, id)["isDeleted"])
	requireAttempts(t, []attempt{
		{"delete again", boss, http.MethodDelete, channelPath(id), nil, notFound},
		{"update deleted", boss, http.MethodPut, channelPath(id), object{"displayName": "x"}, notFound},
		{"join deleted", stranger, http.MethodPost, channelPath(id) + "/join", nil, notFound},
		{"mute deleted", boss, http.MethodPut, "/api/v2/channel/" + id + "/mute", object{"mutePeriod": -1}, notFound},
		{"users of deleted", boss, http.MethodGet, channelUsersPath(id), nil, notFound},
	})
}

// TestCloseChannel deletes channels by the older form of the operation.
func TestCloseChannel(t *testing.T) {
	t.Parallel()
	boss, friend := newUser(t, region.EU, "boss"), newUser(t, region.US, "friend")
	closePath := func(id string) string { return "/api/v2/channels/" + id + "/close" }
	for _, by := range []*apptest.Client{boss, admin(t)} {
		id := newChannel(t, boss, named(friend))
		requireFailure(t, notAllowed, friend.Do(t, http.MethodPost, closePath(id), nil))
		require.Equal(t, false, getChannel(t, friend, id)["isDeleted"])
		require.True(t, by.Do(t, http.MethodPost, closePath(id), nil).OK(t).Bool(t, "success"))
		require.Equal(t, true, getChannel(t, friend, id)["isDeleted"])
		requireFailure(t, notFound, by.Do(t, http.MethodPost, closePath(id), nil))
	}
}

// TestChannelWithClientID checks that a client-chosen id belongs to one channel in all regions and does not hide
// another channel's id.
func TestChannelWithClientID(t *testing.T) {
	t.Parallel()
	boss, other := newUser(t, region.EU, "boss"), newUser(t, region.US, "other")
	for _, id := range []string{apptest.UserID("chan"), apptest.UserID("a b/c?ü&%"), apptest.UserID("%2F")} {
		c := requireChannel(t, boss.Do(t, http.MethodPost, channelsPath, object{"channelId": id, "displayName": "first"}))
		require.Equal(t, id, c["channelId"])
		for _, code := range region.All() {
			requireFailure(t, exists, other.At(code).Do(t, http.MethodPost, channelsPath, object{"channelId": id}))
			require.Equal(t, c, getChannel(t, other.At(code), id))
			require.Equal(t, c, getChannel(t, other.At(code), text(c, "_id")))
		}
		other.Do(t, http.MethodPost, channelPath(id)+"/join", nil).OK(t)
		r := other.Do(t, http.MethodGet, channelsPath+"/list?"+url.Values{"channelIds[]": {id, text(c, "_id"), unknownID, "none"}}.Encode(), nil)
		require.Equal(t, c["_id"], requireAggregate(t, r, "", channelAggregate).one("channels")["_id"])
	}
	ours := newChannel(t, boss)
	requireFailure(t, invalid("channelId"), other.Do(t, http.MethodPost, channelsPath, object{"channelId": ours}))
	requireFailure(t, invalid("channelId"), other.Do(t, http.MethodPost, channelsPath, object{"channelId": unknownID}))
}

func TestPrivateChannels(t *testing.T) {
	t.Parallel()
	boss, friend, stranger := newUser(t, region.EU, "boss"), newUser(t, region.US, "friend"), newUser(t, region.SG, "stranger")
	id := newChannel(t, boss, object{"isPublic": false, "userIds": []string{friend.UserID}})
	require.Equal(t, false, getChannel(t, friend, id)["isPublic"])
	requireAttempts(t, []attempt{
		{"get", stranger, http.MethodGet, channelPath(id), nil, notFound},
		{"join", stranger, http.MethodPost, channelPath(id) + "/join", nil, notFound},
		{"leave", stranger, http.MethodDelete, channelPath(id) + "/leave", nil, notFound},
		{"users", stranger, http.MethodGet, channelUsersPath(id), nil, notFound},
		{"update", stranger, http.MethodPut, channelPath(id), object{"displayName": "x"}, notFound},
		{"delete", stranger, http.MethodDelete, channelPath(id), nil, notFound},
		{"add", stranger, http.MethodPost, channelPath(id) + "/users", object{"userIds": []string{stranger.UserID}}, notFound},
		{"mute", stranger, http.MethodPut, "/api/v2/channel/" + id + "/mute", object{"mutePeriod": -1}, notFound},
		{"admin joins", admin(t), http.MethodPost, channelPath(id) + "/join", nil, forbidden},
	})
	viewer := newStaff(t, region.US, "moderator")
	getChannel(t, viewer, id)
	inviteOnly := failure{status: http.StatusForbidden, code: 400300, message: "This channel is invite-only"}
	requireFailure(t, inviteOnly, viewer.Do(t, http.MethodPost, channelPath(id)+"/join", nil))
	require.Equal(t, "none", channelUser(t, viewer, id)["membership"])
	list := stranger.Do(t, http.MethodGet, channelsPath+"/list?channelIds[]="+id, nil).OK(t)
	require.Empty(t, list.List(t, "channels"))
	boss.Do(t, http.MethodPost, channelPath(id)+"/users", object{"channelId": id, "userIds": []string{stranger.UserID}}).OK(t)
	getChannel(t, stranger, id)
	boss.Do(t, http.MethodPut, channelPath(id)+"/users/ban", object{"userIds": []string{stranger.UserID}}).OK(t)
	requireFailure(t, banned, stranger.Do(t, http.MethodGet, channelPath(id), nil))
	requireFailure(t, banned, stranger.Do(t, http.MethodPost, channelPath(id)+"/join", nil))
	boss.Do(t, http.MethodPut, channelPath(id)+"/users/unban", object{"userIds": []string{stranger.UserID}}).OK(t)
	requireFailure(t, notFound, stranger.Do(t, http.MethodPost, channelPath(id)+"/join", nil))
	friend.Do(t, http.MethodDelete, channelPath(id)+"/leave", nil).OK(t)
	requireFailure(t, notFound, friend.Do(t, http.MethodGet, channelPath(id), nil))
}

func TestBroadcastChannels(t *testing.T) {
	t.Parallel()
	reader, helper := newUser(t, region.EU, "reader"), newUser(t, region.US, "helper")
	requireFailure(t, notAllowed, reader.Do(t, http.MethodPost, channelsPath, object{"type": "broadcast"}))
	r := admin(t).Do(t, http.MethodPost, channelsPath, object{"type": "broadcast", "displayName": "News", "userIds": []string{helper.UserID}})
	c := requireChannel(t, r)
	require.Subset(t, c, object{"type": "broadcast", "isPublic": true, "memberCount": 1.0, "moderatorMemberCount": 0.0})
	chat := &chat{id: text(c, "_id")}
	reader.Do(t, http.MethodPost, chat.path("/join"), nil).OK(t)
	requireFailure(t, notMember, chat.sendMessage(t, reader, "me too"))
	requireFailure(t, notMember, chat.sendMessage(t, helper, "me too"))
	admin(t).Do(t, http.MethodPost, chat.path("/users/roles"), object{"role": "channel-moderator", "userIds": []string{helper.UserID}}).OK(t)
	chat.newMessage(t, helper, "news")
	require.InDelta(t, 1, getChannel(t, reader, chat.id)["messageCount"], 0)
}

// TestChannelLimits sends values at and beyond their limits.
func TestChannelLimits(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	id := newChannel(t, boss)
	long := func(n int) string { return strings.Repeat("é", n) }
	for _, c := range []struct {
		name  string
		body  object
		field string
	}{
		{"name", object{"displayName": long(101)}, "displayName"},
		{"NUL", object{"displayName": "a\x00"}, "displayName"},
		{"metadata", object{"metadata": "text"}, "metadata"},
		{"tags", object{"tags": []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"}}, "tags"},
		{"tag", object{"tags": []string{long(101)}}, "tags[0]"},
		{"mode", object{"notificationMode": "loud"}, "notificationMode"},
		{"no flags", object{"autoDeleteMessageByFlagLimit": 0}, "autoDeleteMessageByFlagLimit"},
		{"flags", object{"autoDeleteMessageByFlagLimit": 1001}, "autoDeleteMessageByFlagLimit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireFailure(t, invalid(c.field), boss.Do(t, http.MethodPost, channelsPath, c.body))
			requireFailure(t, invalid(c.field), boss.Do(t, http.MethodPut, channelPath(id), c.body))
		})
	}
	boss.Do(t, http.MethodPost, channelsPath, object{"displayName": long(100)}).OK(t)
	text := fileOf(t, "file")
	requireAttempts(t, []attempt{
		{"type", boss, http.MethodPost, channelsPath, object{"type": "conversation"}, invalid("type")},
		{"id", boss, http.MethodPost, channelsPath, object{"channelId": long(101)}, invalid("channelId")},
		{
			"1001 users", boss, http.MethodPost, channelsPath,
			object{"userIds": strings.Split(strings.Repeat("x ", 1000)+"x", " ")},
			invalid("userIds"),
		},
		{"unknown user", boss, http.MethodPost, channelsPath, object{"userIds": []string{"unknown user"}}, notFound},
		{"avatar is no image", boss, http.MethodPost, channelsPath, object{"avatarFileId": text}, forbidden},
		{"avatar does not exist", boss, http.MethodPut, channelPath(id), object{"avatarFileId": unknownID}, notFound},
		{"public live", boss, http.MethodPost, channelsPath, object{"type": "live", "isPublic": true}, invalid("isPublic")},
		{"attached community", boss, http.MethodPost, channelsPath, object{"roomId": unknownID}, invalid("postId, videoStreamId, roomId")},
		{"get unknown", boss, http.MethodGet, channelPath(unknownID), nil, notFound},
		{"get nonsense", boss, http.MethodGet, channelPath("nonsense"), nil, notFound},
		{"get 901", boss, http.MethodGet, channelPath(strings.Repeat("x", 901)), nil, invalid("channelId")},
		{"get NUL", boss, http.MethodGet, channelPath("a\x00b"), nil, invalid("channelId")},
		{"get no UTF-8", boss, http.MethodGet, channelsPath + "/%ff", nil, failure{status: 422, code: 500000}},
		{"list none", boss, http.MethodGet, channelsPath + "/list", nil, invalid("channelIds")},
		{"list 101", boss, http.MethodGet, channelsPath + "/list?" + strings.Repeat("channelIds[]=x&", 101), nil, invalid("channelIds")},
		{"no token", boss.Network.Anonymous(region.EU), http.MethodGet, channelPath(id), nil, unauthorized},
	})
}

func TestChatSettings(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	const path = "/api/v3/network-settings/chat"
	alice, boss := n.NewUser(t, region.EU, "alice"), n.Admin(region.US)
	r := alice.Do(t, http.MethodGet, path, nil).OK(t)
	require.JSONEq(t,
		`{"enabled":true,"mention":{"isAllowMentionedChannelEnabled":false},"messagePreview":{"enabled":true,"isIncludeDeleted":false},
		"isAllowAdminViewConversationMessage":true,"isAllowAdminManageConversationMessage":true,"allowMemberToUpdateConversationChannel":false}`, string(r.Body))
	r = boss.Do(t, http.MethodPut, path, object{
		"isAllowMentionedChannelEnabled": true, "messagePreviewSetting": object{"enabled": false, "isIncludeDeleted": true},
		"allowMemberToUpdateConversationChannel": true, "isAllowAdminViewConversationMessage": true,
	}).OK(t)
	require.JSONEq(t,
		`{"enabled":true,"mention":{"isAllowMentionedChannelEnabled":true},"messagePreview":{"enabled":false,"isIncludeDeleted":true},
		"isAllowAdminViewConversationMessage":true,"isAllowAdminManageConversationMessage":true,"allowMemberToUpdateConversationChannel":true}`,
		string(r.Body))
	requireAttempts(t, []attempt{
		{"as a user", alice, http.MethodPut, path, object{}, notAllowed},
		{
			"not from admins", boss, http.MethodPut, path,
			object{"isAllowAdminViewConversationMessage": false},
			invalid("isAllowAdminViewConversationMessage"),
		},
		{"nothing", boss, http.MethodPut, path, object{}, failure{}},
	})

	chat := newChat(t, alice)
	first, second := chat.newMessage(t, alice, "one"), chat.newMessage(t, alice, "two")
	preview := func(setting object) (string, []any) {
		t.Helper()
		boss.At(region.EU).Do(t, http.MethodPut, path, object{"messagePreviewSetting": setting}).OK(t)
		r := alice.Do(t, http.MethodGet, channelPath(chat.id), nil)
		return text(requireChannel(t, r), "messagePreviewId"), r.List(t, "messagePreviews")
	}
	id, list := preview(object{"enabled": false})
	require.Empty(t, id)
	require.Empty(t, list)
	id, list = preview(object{"enabled": true, "isIncludeDeleted": false})
	require.Equal(t, second, id)
	require.Subset(t, list[0], object{
		"messageId": second, "data": object{"text": "two"}, "segment": 2.0, "creatorPublicId": alice.UserID,
		"isDeleted": false,
	})
	alice.Do(t, http.MethodDelete, messagesPath+"/"+second, nil).OK(t)
	id, _ = preview(object{"isIncludeDeleted": false})
	require.Equal(t, first, id, "the last that is not deleted")
	id, list = preview(object{"isIncludeDeleted": true})
	require.Equal(t, second, id)
	require.Subset(t, list[0], object{"data": object{}, "isDeleted": true})
	stranger := n.NewUser(t, region.SG, "stranger")
	require.Empty(t, getChannel(t, stranger, chat.id)["messagePreviewId"], "previews are for those who may read")
	require.Equal(t, second, getChannel(t, n.Admin(region.EU), chat.id)["messagePreviewId"])
}
