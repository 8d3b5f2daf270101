package conformance

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const conversationPath = channelsPath + "/conversation"

func createConversation(t *testing.T, c *apptest.Client, with ...*apptest.Client) *apptest.Response {
	t.Helper()
	return c.Do(t, http.MethodPost, conversationPath, object{"type": "conversation", "userIds": userIDs(with...), "isDistinct": true})
}

// TestDistinctConversation checks that the same users share one conversation, regardless of which of them creates
// it, in which region, and how many do so concurrently.
func TestDistinctConversation(t *testing.T) {
	t.Parallel()
	alice, bob, carol := newUser(t, region.EU, "alice"), newUser(t, region.US, "bob"), newUser(t, region.SG, "carol")
	askers := []*apptest.Client{alice, bob.At(region.SG), carol, alice.At(region.US), bob, carol.At(region.EU)}
	ids := make([]string, len(askers))
	var all sync.WaitGroup
	for i, by := range askers {
		all.Go(func() {
			r := by.Do(t, http.MethodPost, conversationPath, object{"userIds": []string{carol.UserID, alice.UserID, bob.UserID}})
			if r.Status == http.StatusOK {
				ids[i] = r.String(t, "channels.0.channelId")
			}
		})
	}
	all.Wait()
	for _, id := range ids {
		require.NotEmpty(t, id)
		require.Equal(t, ids[0], id)
	}
	c := getChannel(t, bob, ids[0])
	require.Subset(t, c, object{
		"type": "conversation", "isDistinct": true, "isPublic": false, "memberCount": 3.0,
		"moderatorMemberCount": 0.0,
	})
	two := requireChannel(t, createConversation(t, alice, bob))
	require.NotEqual(t, ids[0], two["channelId"], "other users, another conversation")
	require.Equal(t, two["channelId"], requireChannel(t, createConversation(t, bob, alice, bob))["channelId"],
		"the caller may be among the users")

	bob.Do(t, http.MethodDelete, channelPath(ids[0])+"/leave", nil).OK(t)
	requireFailure(t, notFound, bob.Do(t, http.MethodGet, channelPath(ids[0]), nil))
	require.InDelta(t, 2, getChannel(t, alice, ids[0])["memberCount"], 0)
	again := createConversation(t, alice, bob, carol)
	require.Equal(t, ids[0], requireChannel(t, again)["channelId"])
	require.InDelta(t, 3, again.Int(t, "channels.0.memberCount"), 0, "who left belongs to it again")
	require.Equal(t, "member", channelUser(t, bob, ids[0])["membership"])

	chat := &chat{id: text(two, "_id")}
	chat.newMessage(t, alice, "1")
	require.Equal(t, feedMark{Unread: 1}, chat.mark(t, bob, 1))
	bob.Do(t, http.MethodDelete, chat.path("/leave"), nil).OK(t)
	require.Eventually(t, func() bool { return unread(t, bob) == 0 }, apptest.Patience, tick)
	createConversation(t, alice, bob).OK(t)
	chat.newMessage(t, alice, "2")
	require.Eventually(t, func() bool { return unread(t, bob) == 1 }, apptest.Patience, tick, "what is written after the return is unread")
	admin(t).Do(t, http.MethodDelete, chat.path(""), nil).OK(t)
	requireFailure(t, forbidden, createConversation(t, bob, alice))
}

func TestConversation(t *testing.T) {
	t.Parallel()
	alice, bob, stranger := newUser(t, region.EU, "alice"), newUser(t, region.US, "bob"), newUser(t, region.SG, "stranger")
	body := object{
		"userIds": []string{bob.UserID}, "isDistinct": false, "displayName": "us", "avatarFileId": fileOf(t, "image"), "tags": []string{"t"},
		"metadata": object{"a": 1.0},
	}
	first := requireChannel(t, alice.Do(t, http.MethodPost, conversationPath, body))
	second := requireChannel(t, alice.Do(t, http.MethodPost, conversationPath, body))
	require.NotEqual(t, first["channelId"], second["channelId"])
	require.Subset(t, first, object{
		"displayName": "us", "tags": []any{"t"}, "metadata": object{"a": 1.0}, "isDistinct": false, "avatarFileId": body["avatarFileId"],
		"notificationMode":         "default",
		"messageAutoDeleteEnabled": false, "autoDeleteMessageByFlagLimit": 10.0,
	})
	id := text(first, "channelId")
	require.Equal(t, "renamed", requireChannel(t,
		alice.Do(t, http.MethodPut, channelPath(id), object{"displayName": "renamed"}))["displayName"])
	moderate := object{"userIds": []string{stranger.UserID}, "role": "channel-moderator"}
	requireAttempts(t, []attempt{
		{"changed by another", bob, http.MethodPut, channelPath(id), object{"displayName": "x"}, notAllowed},
		{"seen by a stranger", stranger, http.MethodGet, channelPath(id), nil, notFound},
		{"joined", stranger, http.MethodPost, channelPath(id) + "/join", nil, notFound},
		{"adding", alice, http.MethodPost, channelPath(id) + "/users", moderate, notAllowed},
		{"admin adds", admin(t), http.MethodPost, channelPath(id) + "/users", moderate, forbidden},
		{"admin bans", admin(t), http.MethodPut, channelPath(id) + "/users/ban", moderate, forbidden},
		{"admin removes", admin(t), http.MethodDelete, channelPath(id) + "/users", moderate, forbidden},
		{"admin gives a role", admin(t), http.MethodPost, channelPath(id) + "/users/roles", moderate, forbidden},
		{"deleting", alice, http.MethodDelete, channelPath(id), nil, notAllowed},
		{"admin deletes", admin(t), http.MethodDelete, channelPath(id), nil, failure{}},
		{"only the caller", alice, http.MethodPost, conversationPath, object{"userIds": []string{alice.UserID}}, invalid("userIds")},
		{"without users", alice, http.MethodPost, conversationPath, object{"userIds": []string{}}, invalid("userIds")},
		{"unknown", alice, http.MethodPost, conversationPath, object{"userIds": []string{"unknown user"}}, notFound},
		{"admin", admin(t), http.MethodPost, conversationPath, object{"userIds": []string{bob.UserID}}, forbidden},
		{"other type", alice, http.MethodPost, conversationPath, object{"userIds": []string{bob.UserID}, "type": "live"}, invalid("type")},
	})
	var crowd []string
	for i := range 11 {
		crowd = append(crowd, newUser(t, region.All()[i%3], fmt.Sprint("crowd-", i)).UserID)
	}
	requireFailure(t, invalid("userIds"), alice.Do(t, http.MethodPost, conversationPath, object{"userIds": crowd}))
	require.InDelta(t, 11, requireChannel(t, alice.Do(t, http.MethodPost, conversationPath, object{"userIds": crowd[:10]}))["memberCount"], 0)
}

// TestConversationBetweenBlockedUsers checks that users who block each other, in either direction, can neither start a conversation nor
// write in that of the two. They write in one with others.
func TestConversationBetweenBlockedUsers(t *testing.T) {
	t.Parallel()
	alice, bob, carol := newUser(t, region.EU, "alice"), newUser(t, region.EU, "bob"), newUser(t, region.US, "carol")
	two := requireChannel(t, createConversation(t, alice, bob))
	there, pair := text(two, "channelId"), text(two, "channelInternalId")
	group := text(requireChannel(t, createConversation(t, alice, bob, carol)), "channelInternalId")
	block(t, alice, bob)
	requireFailure(t, notFound, createConversation(t, alice, bob))
	requireFailure(t, notFound, createConversation(t, bob, alice))
	getChannel(t, bob, there)
	for _, by := range []*apptest.Client{alice, bob} {
		refused := failure{status: http.StatusForbidden, code: 400300, message: "One of the two users blocks the other"}
		requireFailure(t, refused, (&chat{id: pair}).sendMessage(t, by, "x"))
		(&chat{id: group}).sendMessage(t, by, "x").OK(t)
	}
}

func TestConversationEditableByMembers(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice, bob := n.NewUser(t, region.EU, "alice"), n.NewUser(t, region.EU, "bob")
	id := text(requireChannel(t, createConversation(t, alice, bob)), "channelId")
	requireFailure(t, notAllowed, bob.Do(t, http.MethodPut, channelPath(id), object{"displayName": "x"}))
	n.Admin(region.EU).Do(t, http.MethodPut, "/api/v3/network-settings/chat", object{"allowMemberToUpdateConversationChannel": true}).OK(t)
	require.Equal(t, "x", requireChannel(t, bob.Do(t, http.MethodPut, channelPath(id), object{"displayName": "x"}))["displayName"])
	bob.Do(t, http.MethodDelete, channelPath(id)+"/leave", nil).OK(t)
	requireFailure(t, notFound, bob.Do(t, http.MethodPut, channelPath(id), object{"displayName": "y"}))
}
