package conformance

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// mqttEvent is an act and the event by which clients learn of it.
type mqttEvent struct {
	name  string
	act   func(*testing.T)
	paths map[string]string // values in the event by path
	by    *apptest.Client
}

// requireEvents makes each act and checks that reader receives its event.
func requireEvents(t *testing.T, reader *apptest.MQTTClient, all []mqttEvent) {
	t.Helper()
	for _, want := range all {
		want.act(t)
		t.Log("waiting for", want.name)
		e := next(t, reader)
		require.Equal(t, want.name, e.EventType, e.Text)
		require.Equal(t, want.by.InternalID, e.SenderID, want.name)
		for path, value := range want.paths {
			require.Equal(t, value, e.Response().String(t, path), "%s: %s", want.name, path)
		}
	}
}

// next returns the next event, except for those about the creation of a test's community or channel.
func next(t *testing.T, m *apptest.MQTTClient) apptest.MQTTEvent {
	t.Helper()
	e := m.Next(t)
	for e.EventType == "community.created" || e.EventType == "channel.created" {
		e = m.Next(t)
	}
	return e
}

// do returns an act: a call that must succeed.
func do(by *apptest.Client, method, path string, body any) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		by.Do(t, method, path, body).OK(t)
	}
}

// TestMQTTCommentEvents covers comments, and flags, which only the reporter learns of.
func TestMQTTCommentEvents(t *testing.T) {
	t.Parallel()
	author, watcher := newUser(t, region.US, "author"), newUser(t, region.EU, "watcher")
	community := newCommunity(t, author)
	join(t, community, watcher)
	post := newPost(t, author, community)
	filter := communityTopic(author, community) + "/post/" + post + "/comment/+"
	reader, own := connected(t, watcher, filter), connected(t, author, filter)
	comment := newComment(t, author, post)
	path := "/api/v3/comments/" + comment
	at := map[string]string{"data.comments.0.commentId": comment}
	for _, m := range []*apptest.MQTTClient{reader, own} {
		require.Equal(t, "comment.created", m.Next(t).EventType)
	}
	requireEvents(t, reader, []mqttEvent{
		{"comment.updated", do(author, http.MethodPut, path, object{"data": object{"text": "edited"}}), at, author},
		{
			"comment.addReaction", do(author, http.MethodPost, "/api/v2/reactions",
				object{"referenceType": "comment", "referenceId": comment, "reactionName": "wow"}),
			map[string]string{"data.reactor.reactionName": "wow", "data.comments.0.commentId": comment},
			author,
		},
		{"comment.removeReaction", do(author, http.MethodDelete, "/api/v2/reactions",
			object{"referenceType": "comment", "referenceId": comment, "reactionName": "wow"}), at, author},
		{"comment.flagged", do(watcher, http.MethodPost, path+"/flag", object{}), at, watcher},
		{"comment.unflagged", do(watcher, http.MethodDelete, path+"/unflag", nil), at, watcher},
		{"comment.deleted", do(author, http.MethodDelete, path+"?permanent=true", nil), at, author},
	})
	for _, name := range []string{"comment.updated", "comment.addReaction", "comment.removeReaction", "comment.deleted"} {
		require.Equal(t, name, own.Next(t).EventType, "the author does not learn who flags")
	}
}

// TestMQTTReview checks that a post that waits for approval is announced to its author and to moderators only.
func TestMQTTReview(t *testing.T) {
	t.Parallel()
	boss, author, member := newUser(t, region.EU, "boss"), newUser(t, region.US, "author"), newUser(t, region.EU, "member")
	community := newCommunity(t, boss, object{"needApprovalOnPostCreation": true})
	join(t, community, author, member)
	filter := communityTopic(boss, community) + "/post/#"
	moderator, own, other := connected(t, boss, filter), connected(t, author, filter), connected(t, member, filter)
	post := newPost(t, author, community)
	watching := []*apptest.MQTTClient{moderator, own}
	for _, m := range watching {
		require.Equal(t, "post.created", next(t, m).EventType)
	}
	boss.Do(t, http.MethodPost, "/api/v3/posts/"+post+"/approve", nil).OK(t)
	for _, m := range watching {
		require.Equal(t, "post.approved", next(t, m).EventType)
	}
	require.Equal(t, "post.approved", other.Next(t).EventType)
}

// TestMQTTStoryEvents covers stories.
func TestMQTTStoryEvents(t *testing.T) {
	t.Parallel()
	author, watcher := newUser(t, region.SG, "author"), newUser(t, region.EU, "watcher")
	community := newCommunity(t, author)
	reader := connected(t, watcher, communityTopic(author, community)+"/story/#")
	story := newStory(t, author, community)
	e := reader.Next(t)
	require.Equal(t, "story.created", e.EventType)
	at := map[string]string{"data.stories.0.storyId": story}
	reaction := object{"referenceType": "story", "referenceId": story, "reactionName": "wow"}
	requireEvents(t, reader, []mqttEvent{
		{"story.reactionAdded", do(author, http.MethodPost, "/api/v2/reactions", reaction), at, author},
		{"story.reactionRemoved", do(author, http.MethodDelete, "/api/v2/reactions", reaction), at, author},
		{"story.deleted", do(author, http.MethodDelete, "/api/v4/stories/"+story, nil), at, author},
	})
}

// TestMQTTMessageEvents covers channels, subchannels and messages, by their topics and by smart feeds.
func TestMQTTMessageEvents(t *testing.T) {
	t.Parallel()
	boss, member, stranger := newUser(t, region.EU, "boss"), newUser(t, region.US, "member"), newUser(t, region.EU, "stranger")
	c := newChatOf(t, boss, object{"isPublic": false}, member)
	n := boss.Network.NetworkID
	reader := connected(t, member, n+"/chat/"+c.id+"/#")
	messages := connected(t, boss, n+"/smartfeed/"+boss.InternalID+"/messages")
	channels := connected(t, member.At(region.SG), n+"/smartfeed/"+member.InternalID+"/channels")
	none := connected(t, stranger, n+"/smartfeed/"+stranger.InternalID+"/messages", n+"/smartfeed/"+stranger.InternalID+"/channels",
		n+"/user/"+stranger.InternalID)
	message := c.newMessage(t, member, "hello")
	path, at := messagesPath+"/"+message, map[string]string{"data.messages.0.messageId": message}
	for _, m := range []*apptest.MQTTClient{reader, messages} {
		require.Equal(t, "message.created", next(t, m).EventType)
	}
	reaction := object{"referenceType": "message", "referenceId": message, "reactionName": "wow"}
	events := []mqttEvent{
		{"message.updated", do(member, http.MethodPut, path, object{"data": object{"text": "edited"}}), at, member},
		{
			"message.reactionAdded", do(boss, http.MethodPost, "/api/v2/reactions", reaction),
			map[string]string{"data.reactions.0.reactionName": "wow"},
			boss,
		},
		{"message.reactionRemoved", do(boss, http.MethodDelete, "/api/v2/reactions", reaction), at, boss},
		{"message.deleted", do(member, http.MethodDelete, path, nil), at, member},
		{
			"channel.updated", do(boss, http.MethodPut, "/api/v3/channels/"+c.id, object{"displayName": "new"}),
			map[string]string{"data.channels.0.displayName": "new"},
			boss,
		},
		{
			"channel.membersAdded", do(boss, http.MethodPost, c.path("/users"), object{"userIds": userIDs(stranger)}),
			map[string]string{"data.channelUsers.0.userId": stranger.UserID},
			boss,
		},
		{
			"channel.setMuted", do(boss, http.MethodPut, "/api/v2/channel/"+c.id+"/mute", object{"mutePeriod": 60_000}),
			map[string]string{"data.channelId": c.id, "data.actor": boss.InternalID},
			boss,
		},
		{
			"channel.setMutedUsers", do(boss, http.MethodPut, "/api/v2/channel/"+c.id+"/users/mute",
				object{"mutePeriod": 60_000, "userIds": userIDs(stranger)}),
			map[string]string{"data.channelId": c.id, "data.userIds.0": stranger.UserID},
			boss,
		},
		{
			"channel.deleted", do(boss, http.MethodDelete, "/api/v3/channels/"+c.id, nil),
			map[string]string{"data.channels.0.channelId": c.id},
			boss,
		},
	}
	added := slices.IndexFunc(events, func(e mqttEvent) bool { return e.name == "channel.membersAdded" })
	requireEvents(t, reader, events[:added])
	stranger.Do(t, http.MethodPut, "/api/v3/users", object{"userId": stranger.UserID, "displayName": "Stranger"}).OK(t)
	require.Equal(t, "user.updated", none.Next(t).EventType, "the first event of the log of the channel's home that concerns the stranger")
	requireEvents(t, reader, events[added:])
	for _, name := range []string{"channel.updated", "channel.membersAdded", "channel.setMuted", "channel.setMutedUsers", "channel.deleted"} {
		require.Equal(t, name, next(t, channels).EventType)
	}
	require.Equal(t, "channel.membersAdded", none.Next(t).EventType)
	for _, name := range []string{"message.updated", "message.reactionAdded", "message.reactionRemoved", "message.deleted"} {
		require.Equal(t, name, messages.Next(t).EventType)
	}
}

// TestMQTTCommunityEvents covers communities and memberships, which the users concerned also learn on their own topics.
func TestMQTTCommunityEvents(t *testing.T) {
	t.Parallel()
	boss, member, watcher := newUser(t, region.EU, "boss"), newUser(t, region.US, "member"), newUser(t, region.SG, "watcher")
	community := newCommunity(t, boss)
	reader := connected(t, watcher, communityTopic(boss, community))
	own := connected(t, member, boss.Network.NetworkID+"/user/"+member.InternalID)
	path := "/api/v3/communities/" + community
	at := map[string]string{"data.communityUsers.0.userId": member.UserID, "data.communities.0.communityId": community}
	users := object{"userIds": userIDs(member)}
	requireEvents(t, reader, []mqttEvent{
		{
			"community.updated", do(boss, http.MethodPut, path, object{"displayName": "new"}),
			map[string]string{"data.communities.0.displayName": "new"},
			boss,
		},
		{"community.joined", do(member, http.MethodPost, path+"/join", nil), at, member},
		{"community.left", do(member, http.MethodDelete, path+"/leave", nil), at, member},
		{"community.userAdded", do(boss, http.MethodPost, path+"/users", users), at, boss},
		{"community.roleAdded", do(boss, http.MethodPost, path+"/users/roles",
			object{"userIds": userIDs(member), "roles": []string{"community-moderator"}}), at, boss},
		{"community.roleRemoved", do(boss, http.MethodDelete, path+"/users/roles",
			object{"userIds": userIDs(member), "roles": []string{"community-moderator"}}), at, boss},
		{"community.userRemoved", do(boss, http.MethodDelete, path+"/users", users), at, boss},
		{"community.userBanned", do(boss, http.MethodPut, path+"/users/ban", users), at, boss},
		{"community.userUnbanned", do(boss, http.MethodPut, path+"/users/unban", users), at, boss},
		{"community.deleted", do(boss, http.MethodDelete, path, nil), map[string]string{"data.communities.0.communityId": community}, boss},
	})
	for _, name := range []string{"joined", "left", "userAdded", "roleAdded", "roleRemoved", "userRemoved", "userBanned", "userUnbanned"} {
		require.Equal(t, "community."+name, own.Next(t).EventType)
	}
}

// TestMQTTCommunityDeletion deletes a private community a moment after the server has read that its member may read it: the member
// receives the event, and may not subscribe after it.
func TestMQTTCommunityDeletion(t *testing.T) {
	t.Parallel()
	boss, member := newUser(t, region.EU, "boss"), newUser(t, region.US, "member")
	community := newCommunity(t, boss, object{"isPublic": false, "userIds": userIDs(member)})
	topic := communityTopic(boss, community)
	reader := member.ConnectMQTT(t).RequireSubscribe(t, topic)
	boss.Do(t, http.MethodDelete, "/api/v3/communities/"+community, nil).OK(t)
	e, _ := reader.Until(t, "community.deleted")
	require.Equal(t, community, e.Response().String(t, "data.communities.0.communityId"))
	require.False(t, reader.Subscribe(t, topic+"/post/+"))
}

// TestMQTTUserEvents covers users, follows and markers.
func TestMQTTUserEvents(t *testing.T) {
	t.Parallel()
	anna, ben := newUser(t, region.EU, "anna"), newUser(t, region.US, "ben")
	n := anna.Network.NetworkID
	followers := connected(t, anna, n+"/membership/"+anna.InternalID+"/+/+", n+"/user/"+ben.InternalID)
	followings := connected(t, ben, n+"/membership/+/"+ben.InternalID+"/+", n+"/marker/user/"+ben.InternalID)
	at := map[string]string{"data.follows.0.from": ben.UserID, "data.follows.0.to": anna.UserID}
	requireEvents(t, followers, []mqttEvent{
		{"follow.created", do(ben, http.MethodPost, "/api/v4/me/following/"+anna.UserID, nil), at, ben},
		{"follow.unfollowed", do(ben, http.MethodDelete, "/api/v4/me/following/"+anna.UserID, nil), at, ben},
		{
			"user.updated", do(ben, http.MethodPut, "/api/v3/users", object{"userId": ben.UserID, "displayName": "Benno"}),
			map[string]string{"data.users.0.displayName": "Benno"},
			ben,
		},
	})
	for _, name := range []string{"follow.created", "follow.unfollowed"} {
		require.Equal(t, name, followings.Next(t).EventType)
	}
	c := newChat(t, anna, ben)
	c.newMessage(t, anna, "hello")
	e := followings.Next(t)
	require.Equal(t, "marker.user-sync", e.EventType)
	require.Equal(t, ben.InternalID, e.Response().String(t, "data.userMarkers.0.userId"))
}

// TestMQTTUserDeleted erases a user: those who watch the user learn it, without the name of the user.
func TestMQTTUserDeleted(t *testing.T) {
	t.Parallel()
	gone, watcher, other := newUser(t, region.EU, "gone"), newUser(t, region.SG, "watcher"), newUser(t, region.EU, "other")
	users := connected(t, watcher, gone.Network.NetworkID+"/user/"+gone.InternalID)
	stranger := connected(t, other, gone.Network.NetworkID+"/user/"+other.InternalID)
	requireEvents(t, users, []mqttEvent{{
		"user.deleted", do(gone, http.MethodDelete, "/api/v4/users/"+gone.UserID, nil),
		map[string]string{"data.users.0._id": gone.InternalID, "data.users.0.userId": "DELETED_" + gone.InternalID},
		gone,
	}})
	do(other, http.MethodPut, "/api/v3/users", object{"userId": other.UserID, "displayName": "Olga"})(t)
	require.Equal(t, "user.updated", stranger.Next(t).EventType)
}

// TestMQTTEventsThatEndAccess bans and removes users when the server has read no access of theirs: they learn it on their own topics.
func TestMQTTEventsThatEndAccess(t *testing.T) {
	t.Parallel()
	boss, member := newUser(t, region.EU, "boss"), newUser(t, region.US, "member")
	users := object{"userIds": userIDs(member)}
	public := newCommunity(t, boss)
	join(t, public, member)
	private := newCommunity(t, boss, with(object{"isPublic": false}, users))
	chat := newChatOf(t, boss, object{"isPublic": false}, member)
	own := func() *apptest.MQTTClient {
		return member.ConnectMQTT(t).RequireSubscribe(t, member.Network.NetworkID+"/user/"+member.InternalID)
	}
	for _, end := range []struct{ name, method, path string }{
		{"community.userBanned", http.MethodPut, "/api/v3/communities/" + public + "/users/ban"},
		{"community.userRemoved", http.MethodDelete, "/api/v3/communities/" + private + "/users"},
		{"channel.membersRemoved", http.MethodDelete, chat.path("/users")},
	} {
		reader := own()
		boss.Do(t, end.method, end.path, users).OK(t)
		e, _ := reader.Until(t, end.name)
		require.Equal(t, boss.InternalID, e.SenderID, e.Text)
	}
}
