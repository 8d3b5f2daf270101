package conformance

import (
	"net/http"
	"testing"

	"github.com/plaza-social/plaza/platform/apptest"
)

// walkChannel are the events of a channel, whose members receive them. Users who are not members see a public channel and receive none.
func walkChannel(t *testing.T, w *eventWalk, public bool) {
	t.Helper()
	boss, n := w.users[owner], w.n.NetworkID
	c := newChatOf(t, boss, object{"isPublic": public}, w.all(communityMembers...)...)
	c.promote(t, w.users[moderator])
	reads := readersOf(t, messagesPath+"?messageFeedId="+c.id)
	w.enter(t, place{
		topics: map[string]audience{
			n + "/chat/" + c.id + "/#":                     reads,
			n + "/marker/channel/" + c.id + "/message/any": reads,
		},
		settles: func() {
			w.settle(t, func() { w.call(t, boss, "ChannelUserService/RemoveChannelUsers", w.inChannel(c, stranger)) }, "channel.membersRemoved")
			w.settle(t, func() { c.ban(t, boss, w.users[bannedMember]) }, "channel.banned")
			mute := with(w.inChannel(c, mutedUser), object{"mutePeriod": -1})
			w.settle(t, func() { w.call(t, boss, "ChannelUserService/MuteChannelUsers", mute) }, "channel.setMutedUsers")
		},
	})
	walkMessages(t, w, c)
	walkSubchannels(t, w, c, reads)
	walkChannelUsers(t, w, c, reads, public)
}

// inChannel builds a request for a user of a channel.
func (w *eventWalk) inChannel(c *chat, who principal) object {
	return object{"channelId": c.id, "userIds": userIDs(w.users[who])}
}

// walkMessages are the events about messages. Those about a hidden message are for its author only.
func walkMessages(t *testing.T, w *eventWalk, c *chat) {
	t.Helper()
	var id string
	by, sees := w.users[author], readers(t, messagesPath+"/", &id)
	editor := by // while it is hidden, a moderator
	create := func() { id = c.newMessage(t, by, "hello") }
	edit := func() {
		w.call(t, editor, "MessageService/UpdateMessage", object{"messageId": id, "data": object{"text": "edited"}})
	}
	remove := func() { w.call(t, editor, "MessageService/DeleteMessage", object{"messageId": id}) }
	w.happens(t, create, event{"message.created", sees})
	w.reacting(t, "message", id, "message.reactionAdded", "message.reactionRemoved", sees)
	w.happens(t, edit, event{"message.updated", sees})
	p := contentPlace{cleaner: w.users[moderator], cleans: only(moderator)}
	w.flagging(t, p, "message", id, "message.flagCleared")
	w.happens(t, remove, event{"message.deleted", sees})
	w.happens(t, create, event{"message.created", sees})
	w.hide(t, "message", id, only())
	editor = w.users[moderator]
	w.happens(t, edit, event{"message.updated", only(author)})
	w.happens(t, remove, event{"message.deleted", only(author)})
	read := func() {
		w.call(t, w.users[member], "MarkerService/ReadChannel", object{"channelId": c.id, "readToSegment": 1})
	}
	w.happens(t, read, event{"marker.user-sync", only(member)}) // markers concern the devices of one user
}

// walkSubchannels are the events about subchannels.
func walkSubchannels(t *testing.T, w *eventWalk, c *chat, reads audience) {
	t.Helper()
	var id string
	boss := w.users[owner]
	call := func(operation string, more object) func() {
		return func() { w.call(t, boss, "MessageFeedService/"+operation, with(object{"messageFeedId": id}, more)) }
	}
	w.happens(t, func() { id = c.subchannel(t, boss, "s") }, event{"message-feed.created", reads})
	w.happens(t, call("UpdateMessageFeed", object{"name": "new"}), event{"message-feed.updated", reads})
	message := func() {
		w.call(t, w.users[author], "MessageService/CreateMessage", object{"messageFeedId": id, "data": object{"text": "x"}})
	}
	w.happens(t, message, event{"message.created", reads})
	w.happens(t, call("RemoveMessageFeed", nil), event{"message-feed.deleted", reads})
}

// walkChannelUsers are the events about a channel and its users, who receive what concerns them also when it ends their access.
func walkChannelUsers(t *testing.T, w *eventWalk, c *chat, reads audience, public bool) {
	t.Helper()
	boss, own, told := w.users[owner], w.users[newcomer], reads.and(only(newcomer))
	named, id := w.inChannel(c, newcomer), object{"channelId": c.id}
	for _, row := range []struct {
		by        *apptest.Client
		operation string
		body      object
		name      string
	}{
		{boss, "AddChannelUsers", named, "channel.membersAdded"},
		{boss, "MuteChannelUsers", with(named, object{"mutePeriod": 60_000}), "channel.setMutedUsers"},
		{own, "LeaveChannel", id, "channel.left"},
		{boss, "AddChannelUsers", named, "channel.membersAdded"},
		{boss, "RemoveChannelUsers", named, "channel.membersRemoved"},
		{boss, "BanChannelUsers", named, "channel.banned"},
		{boss, "UnbanChannelUsers", named, "channel.unbanned"},
	} {
		w.happens(t, func() { w.call(t, row.by, "ChannelUserService/"+row.operation, row.body) }, event{row.name, told})
	}
	if public {
		w.happens(t, func() { w.call(t, own, "ChannelUserService/JoinChannel", id) }, event{"channel.joined", told})
		w.happens(t, func() { w.call(t, own, "ChannelUserService/LeaveChannel", id) }, event{"channel.left", told})
	}
	w.happens(t, func() { w.call(t, boss, "ChannelService/UpdateChannel", with(id, object{"displayName": "new"})) },
		event{"channel.updated", reads})
	w.happens(t, func() { w.call(t, boss, "ChannelService/MuteChannel", with(id, object{"mutePeriod": 60_000})) },
		event{"channel.setMuted", reads})
	w.happens(t, func() { w.call(t, boss, "ChannelService/DeleteChannel", id) }, event{"channel.deleted", reads})
	create := func() {
		body := object{"type": "community", "isPublic": public, "displayName": "another", "userIds": userIDs(w.users[member])}
		boss.Do(t, http.MethodPost, channelsPath, body).OK(t)
	}
	w.happens(t, create, event{"channel.created", only(owner, member)}) // before others can subscribe
}
