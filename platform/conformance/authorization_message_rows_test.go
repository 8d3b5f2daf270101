package conformance

import (
	"slices"
	"testing"
)

// chat creates a channel with a member, a moderator and a banned member, and a message of the author in it.
func (g *fixture) chat(t *testing.T, public bool) (c *chat, messageID string) {
	t.Helper()
	c = newChatOf(t, g.boss, object{"isPublic": public}, g.author, g.principals[member], g.principals[moderator], g.principals[bannedMember])
	c.promote(t, g.principals[moderator])
	c.ban(t, g.boss, g.principals[bannedMember])
	return c, c.newMessage(t, g.author, "hello")
}

// The result codes of operations on the content of a channel.
var (
	inChannel      = codesFor(400301, 0, 0, 400304, 0)
	inChannelUsers = codesFor(400301, 0, 0, 400304, 400300)
	ofChannel      = codesFor(400301, 400300, 0, 400304, 0)
	inHidden       = codesFor(400400, 0, 0, 400304, 0)
)

// messageRows are the rows of subchannels and messages.
func messageRows() []row { return slices.Concat(subchannelRows(), chatRows(), chatMarkerRows()) }

// inChat builds a request for a new channel and the message in it.
func inChat(public bool, request func(t *testing.T, g *fixture, c *chat, messageID string) object) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		c, id := g.chat(t, public)
		return request(t, g, c, id)
	}
}

// aMessage builds a request for a new message.
func aMessage(public bool, more object) func(*testing.T, *fixture) object {
	return inChat(public, func(_ *testing.T, _ *fixture, _ *chat, id string) object { return with(object{"messageId": id}, more) })
}

func subchannelRows() []row {
	one := func(more object) func(*testing.T, *fixture) object {
		return inChat(true, func(t *testing.T, g *fixture, c *chat, _ string) object {
			t.Helper()
			return with(object{"messageFeedId": c.subchannel(t, g.boss, "s")}, more)
		})
	}
	byChannel := func(public bool, more object) func(*testing.T, *fixture) object {
		return inChat(public, func(_ *testing.T, _ *fixture, c *chat, _ string) object { return with(object{"channelId": c.id}, more) })
	}
	batch := inChat(false, func(_ *testing.T, _ *fixture, c *chat, _ string) object {
		return object{"messageFeedIds": []string{c.id}}
	})
	return []row{
		{
			procedure: "MessageFeedService/CreateMessageFeed", request: byChannel(true, object{"name": "s"}),
			want: codesFor(400300, 400300, 0, 400300, 0),
		},
		{
			procedure: "MessageFeedService/CreateMessageFeed", name: "hidden", request: byChannel(false, object{"name": "s"}),
			want: codesFor(400400, 400300, 0, 400304, 0),
		},
		{procedure: "MessageFeedService/GetMessageFeed", request: one(nil), want: inChannel},
		{procedure: "MessageFeedService/BatchGetMessageFeeds", request: batch, want: everyone},
		{procedure: "MessageFeedService/ListMessageFeeds", request: byChannel(true, nil), want: inChannel},
		{procedure: "MessageFeedService/ListMessageFeeds", name: "hidden", request: byChannel(false, nil), want: inHidden},
		{procedure: "MessageFeedService/UpdateMessageFeed", request: one(object{"name": "x"}), want: ofChannel},
		{procedure: "MessageFeedService/RemoveMessageFeed", request: one(nil), want: ofChannel},
	}
}

func chatRows() []row {
	write := func(public bool) func(*testing.T, *fixture) object {
		return inChat(public, func(_ *testing.T, _ *fixture, c *chat, _ string) object {
			return object{"messageFeedId": c.id, "data": object{"text": "x"}}
		})
	}
	list := func(public bool) func(*testing.T, *fixture) object {
		return inChat(public, func(_ *testing.T, _ *fixture, c *chat, _ string) object { return object{"messageFeedId": c.id} })
	}
	batch := inChat(false, func(_ *testing.T, _ *fixture, _ *chat, id string) object { return object{"messageIds": []string{id}} })
	text := object{"data": object{"text": "x"}}
	react := inChat(true, func(_ *testing.T, _ *fixture, _ *chat, id string) object {
		return object{"referenceId": id, "referenceType": "message", "reactionName": "like"}
	})
	reactions := inChat(true, func(_ *testing.T, _ *fixture, _ *chat, id string) object {
		return object{"referenceId": id, "referenceType": "message"}
	})
	return []row{
		{procedure: "MessageService/CreateMessage", request: write(true), want: inChannelUsers},
		{procedure: "MessageService/CreateMessage", name: "hidden", request: write(false), want: codesFor(400400, 0, 0, 400304, 400300)},
		{procedure: "MessageService/CreateChannelMessage", request: inChat(true, func(_ *testing.T, _ *fixture, c *chat, _ string) object {
			return object{"channelId": c.id, "data": object{"text": "x"}}
		}), want: inChannelUsers},
		{procedure: "MessageService/ListChannelMessages", request: inChat(false, func(_ *testing.T, _ *fixture, c *chat, _ string) object {
			return object{"channelId": c.id}
		}), want: inHidden},
		{procedure: "MessageService/RemoveChannelMessage", request: aMessage(true, nil), want: ofChannel},
		{procedure: "MessageService/IsChannelMessageFlaggedByMe", request: aMessage(true, nil), want: inChannel},
		{procedure: "MessageService/GetMessage", request: aMessage(true, nil), want: inChannel},
		{procedure: "MessageService/GetMessage", name: "hidden", request: aMessage(false, nil), want: inHidden},
		{procedure: "MessageService/BatchGetMessages", request: batch, want: everyone},
		{procedure: "MessageService/ListMessages", request: list(true), want: inChannel},
		{procedure: "MessageService/ListMessages", name: "hidden", request: list(false), want: inHidden},
		{procedure: "MessageService/UpdateMessage", request: aMessage(true, text), want: ofChannel},
		{procedure: "MessageService/DeleteMessage", request: aMessage(true, nil), want: ofChannel},
		{procedure: "MessageService/FlagMessage", request: aMessage(true, nil), want: inChannelUsers},
		{procedure: "MessageService/UnflagMessage", request: aMessage(true, nil), want: inChannelUsers},
		{procedure: "MessageService/ClearMessageFlags", request: aMessage(true, nil), want: ofChannel},
		{procedure: "MessageService/IsMessageFlaggedByMe", request: aMessage(true, nil), want: inChannel},
		{procedure: "ReactionService/AddReaction", name: "to a message", request: react, want: inChannelUsers},
		{
			procedure: "ReactionService/RemoveReaction", name: "to a message", request: react,
			want: codesFor(400301, 400400, 400400, 400304, 400300),
		},
		{procedure: "ReactionService/ListReactions", name: "to a message", request: reactions, want: inChannel},
	}
}

func chatMarkerRows() []row {
	content := inChat(false, func(_ *testing.T, _ *fixture, _ *chat, id string) object { return object{"messageIds": []string{id}} })
	pushed := func(t *testing.T, g *fixture) object {
		t.Helper()
		c, id := g.chat(t, true)
		return object{"messageFeedId": c.id, "segment": 2, "entityId": c.id, "messageId": id, "userIds": []string{g.author.UserID}}
	}
	return []row{
		{procedure: "MarkerService/ListMessageMarkers", request: content, want: usersOnly},
		{procedure: "MarkerService/ListReadUsers", request: aMessage(true, nil), want: inChannelUsers},
		{procedure: "MarkerService/ListReadUsers", name: "hidden", request: aMessage(false, nil), want: codesFor(400400, 0, 0, 400304, 400300)},
		{procedure: "MarkerService/ListDeliveredUsers", request: aMessage(true, nil), want: inChannelUsers},
		{
			procedure: "MarkerService/PushSegment", name: "into a subchannel", request: pushed,
			want: codesFor(400300, 400300, 400300, 400300, 400000),
		},
	}
}
