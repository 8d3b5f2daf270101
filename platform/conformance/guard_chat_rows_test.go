package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

var deletesChannel = calls("ChannelService/DeleteChannel", "channelId")

// inNewChannel builds a request for a new channel that a new user belongs to if isMember is true. field is how the request names the
// user, if it does.
func inNewChannel(isMember bool, field string) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		g.principals[userOfRow] = g.user(t)
		request := object{"channelId": g.channel(t)}
		if isMember {
			callsAs(theBoss, "ChannelUserService/AddChannelUsers", named(g.principals[userOfRow]), "channelId")(t, g, "", request)
		}
		if field != "" {
			request[field] = []string{g.principals[userOfRow].UserID}
		}
		return request
	}
}

func channelGuardRows() []guardRow {
	chosen := func(*testing.T, *fixture) object {
		return object{"channelId": apptest.UserID("chosen"), "displayName": "c"}
	}
	// between builds a request for the conversation of the boss and a new user.
	between := func(t *testing.T, g *fixture) object {
		t.Helper()
		g.principals[userOfRow] = g.user(t)
		return named(g.principals[userOfRow])
	}
	left := func(t *testing.T, g *fixture) object {
		t.Helper()
		request := between(t, g)
		id := createConversation(t, g.boss, g.principals[userOfRow]).OK(t).String(t, "channels.0.channelId")
		g.kept = object{"channelId": id}
		callsAs(userOfRow, "ChannelUserService/LeaveChannel", nil, "channelId")(t, g, "", g.kept)
		return request
	}
	deletesIt := func(t *testing.T, g *fixture, _ string, _ object) { t.Helper(); deletesChannel(t, g, "", g.kept) }
	leaves := callsAs(userOfRow, "ChannelUserService/LeaveChannel", nil, "channelId")
	adds := func(t *testing.T, g *fixture, _ string, request object) {
		t.Helper()
		callsAs(theBoss, "ChannelUserService/AddChannelUsers", named(g.principals[userOfRow]), "channelId")(t, g, "", request)
	}
	return []guardRow{
		{
			condition: "store/messaging.InsertChannel channels_pkey", procedure: "ChannelService/CreateChannel", by: member,
			request: chosen, change: again(theBoss), want: 400315,
			writes: []string{"daily_usages"},
		},
		{
			condition: "service/channel.storeConversation GuardChannel", procedure: "ChannelService/CreateConversation", by: theBoss,
			request: left, change: deletesIt, want: 400300,
		},
		{
			condition: "store/messaging.UpdateChannel GuardChannel", procedure: "ChannelService/UpdateChannel", by: moderator,
			change: deletesChannel, want: 400400,
		},
		{
			condition: "store/messaging.MuteChannel GuardChannel", procedure: "ChannelService/MuteChannel", by: moderator, change: deletesChannel,
			want: 400400,
		},
		{
			condition: "store/messaging.DeleteChannel GuardChannel", procedure: "ChannelService/DeleteChannel", by: adminToken,
			change: deletesChannel, want: 400400,
		},
		{
			condition: "service/channel.apply GuardChannel", procedure: "ChannelUserService/BanChannelUsers", by: moderator,
			change: deletesChannel, want: 400400,
		},
		{
			condition: "store/messaging.changeChannelUser sqlChannelUserUpdate", procedure: "ChannelUserService/BanChannelUsers", by: moderator,
			request: inNewChannel(true, "userIds"), change: leaves,
		},
		{
			condition: "store/messaging.changeChannelUser channel_users_pkey", procedure: "ChannelUserService/JoinChannel", by: userOfRow,
			request: inNewChannel(false, ""), change: adds,
		},
		{
			condition: "store/messaging.ArchiveChannel sqlArchivedChannelGuardMax", procedure: "ChannelService/ArchiveChannel", by: userOfRow,
			request: conversationToArchive, change: archivesOthers, want: 400300,
		},
	}
}

// conversationToArchive builds a request for a conversation of a new user.
func conversationToArchive(t *testing.T, g *fixture) object {
	t.Helper()
	g.principals[userOfRow] = g.user(t)
	return object{"channelId": createConversation(t, g.principals[userOfRow], g.author, g.user(t)).OK(t).String(t, "channels.0.channelId")}
}

// archivesOthers archives as many other channels for the new user as are allowed, at the home of the user.
func archivesOthers(t *testing.T, g *fixture, _ string, _ object) {
	t.Helper()
	const most = 100
	g.exec(t, `INSERT INTO archived_channels (home, user_id, channel_id, created_at)
		SELECT 'eu', $1, 'archived' || i, now() FROM generate_series(1, $2::bigint) AS s (i)`, g.principals[userOfRow].InternalID, most)
}

func messageGuardRows() []guardRow {
	said := func(c *chat) object {
		return object{"messageFeedId": c.id, "channelId": c.id, "data": object{"text": "x"}}
	}
	write := inChat(true, func(_ *testing.T, g *fixture, c *chat, _ string) object {
		g.kept = object{"channelId": c.id}
		body := said(c)
		delete(body, "channelId")
		return body
	})
	deletesIt := func(t *testing.T, g *fixture, _ string, _ object) { t.Helper(); deletesChannel(t, g, "", g.kept) }
	leavesIt := func(t *testing.T, g *fixture, _ string, _ object) {
		t.Helper()
		callsAs(member, "ChannelUserService/LeaveChannel", nil, "channelId")(t, g, "", g.kept)
	}
	reply := inChat(true, func(_ *testing.T, _ *fixture, c *chat, id string) object {
		return object{"messageFeedId": c.id, "parentId": id, "data": object{"text": "x"}}
	})
	inSubchannel := inChat(true, func(t *testing.T, g *fixture, c *chat, _ string) object {
		t.Helper()
		return object{"messageFeedId": c.subchannel(t, g.boss, "s"), "data": object{"text": "x"}}
	})
	once := inChat(true, func(_ *testing.T, _ *fixture, c *chat, _ string) object {
		return object{"messageFeedId": c.id, "referenceId": apptest.UserID("reference"), "data": object{"text": "x"}}
	})
	deletedByFlags := func(t *testing.T, g *fixture) object {
		t.Helper()
		deletes := object{"isPublic": true, "messageAutoDeleteEnabled": true, "autoDeleteMessageByFlagLimit": 1}
		c := newChatOf(t, g.boss, deletes, g.author, g.principals[member])
		return object{"messageId": c.newMessage(t, g.author, "hello")}
	}
	pushed := func(_ *testing.T, g *fixture) object {
		return object{
			"messageFeedId": region.NewID(region.EU), "segment": 1, "entityId": "e", "messageId": "m",
			"userIds": []string{g.author.UserID},
		}
	}
	// elsewhere is the same request at a server that does not wait for the messages of the first one.
	elsewhere := func(t *testing.T, g *fixture, procedure string, request object) {
		t.Helper()
		require.Zero(t, g.call(t, g.principals[member].At(region.SG), row{procedure: procedure}, request))
	}
	pushedTwice := func(t *testing.T, g *fixture) object {
		t.Helper()
		request := pushed(t, g)
		again(adminToken)(t, g, "MarkerService/PushSegment", request)
		return with(request, object{"segment": 2})
	}
	removes := calls("MessageFeedService/RemoveMessageFeed", "messageFeedId")
	const commit = "service/message.commitMessages "
	return []guardRow{
		{
			condition: "service/messagefeed.CreateMessageFeed GuardChannel", procedure: "MessageFeedService/CreateMessageFeed", by: moderator,
			change: deletesChannel, want: 400400,
		},
		{
			condition: "store/messaging.RenameMessageFeed sqlMessageFeedGuard", procedure: "MessageFeedService/UpdateMessageFeed", by: moderator,
			change: removes, want: 400400,
		},
		{
			condition: "store/messaging.DeleteMessageFeed sqlMessageFeedGuard", procedure: "MessageFeedService/RemoveMessageFeed", by: moderator,
			change: removes, want: 400400,
		},
		{
			condition: "store/messaging.AdvanceMessageFeed sqlMessageFeedGuard", procedure: "MarkerService/PushSegment", by: adminToken,
			request: pushedTwice, change: calls("MarkerService/DeleteMessageFeed", "messageFeedId"), want: 400400,
		},
		{
			condition: commit + "GuardChannel", procedure: "MessageService/CreateMessage", by: member, request: write, change: deletesIt,
			want: 400400,
		},
		{
			condition: commit + "GuardChannelMember", procedure: "MessageService/CreateMessage", by: member,
			request: write, change: leavesIt, want: 400301,
		},
		{
			condition: commit + "GuardMessage", procedure: "MessageService/CreateMessage", by: member,
			request: reply, change: calls("MessageService/DeleteMessage", "messageId=parentId"), want: 400400,
		},
		{
			condition: "store/messaging.InsertMessages sqlMessageFeedGuard", procedure: "MessageService/CreateMessage", by: member,
			request: inSubchannel, change: removes, want: 400400,
		},
		{
			condition: "store/messaging.InsertMessages messages_reference_key", procedure: "MessageService/CreateMessage", by: member,
			request: once, change: elsewhere,
		},
		{
			condition: "service/message.change GuardMessage", procedure: "MessageService/UpdateMessage", by: moderator,
			change: deletesMessage, want: 400400,
		},
		{
			condition: "service/message.DeleteMessage GuardMessage", procedure: "MessageService/DeleteMessage", by: moderator,
			change: deletesMessage, want: 400900,
		},
		{
			condition: "service/message.deleteFlagged GuardMessage", procedure: "MessageService/FlagMessage", by: member,
			request: deletedByFlags, change: deletesMessage,
		},
	}
}

// theMedia is the media server of the network.
const theMedia principal = "the media server"

// embedded builds a request that posts a new stream or room of the author.
func embedded(path, list, field, dataType string) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		id := g.author.Do(t, http.MethodPost, path, object{"title": "live"}).OK(t).String(t, list+".0."+field)
		g.kept = object{field: id}
		return object{"targetType": "community", "targetId": g.open, "dataType": dataType, "data": object{"text": "x", field: id}}
	}
}

func streamGuardRows() []guardRow {
	deletes := calls("VideoStreamingService/DeleteVideoStreaming", "streamId")
	made := func(more object, fields ...object) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			return with(object{"streamId": text(newStream(t, g.author, fields...), "streamId")}, more)
		}
	}
	child := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"title": "child", "parentStreamId": text(newStream(t, g.author), "streamId")}
	}
	channel := func(t *testing.T, g *fixture) object {
		t.Helper()
		id := text(made(nil)(t, g), "streamId")
		g.exec(t, `UPDATE video_streams SET has_channel = false WHERE id = $1`, id) // as if it were older
		return object{"type": "live", "videoStreamId": id}
	}
	banned := func(t *testing.T, g *fixture) object { t.Helper(); return made(named(g.user(t)))(t, g) }
	bans := func(t *testing.T, g *fixture, procedure string, request object) {
		t.Helper()
		again(theAuthor, named(g.user(t)))(t, g, procedure, request)
	}
	deletesIt := func(t *testing.T, g *fixture, _ string, _ object) { t.Helper(); deletes(t, g, "", g.kept) }
	const service = "VideoStreamingService/"
	return []guardRow{
		{
			condition: "store/media.InsertVideoStream sqlStreamGuardParent", procedure: service + "CreateVideoStreaming", by: theAuthor,
			request: child, change: calls(service+"DeleteVideoStreaming", "streamId=parentStreamId"), want: 400000,
		},
		{
			condition: "store/media.UpdateVideoStream sqlStreamGuard", procedure: service + "UpdateVideoStreaming", by: theAuthor,
			change: deletes, want: 400400,
		},
		{
			condition: "store/media.DeleteVideoStream sqlStreamGuard", procedure: service + "DeleteVideoStreaming", by: theAuthor,
			change: deletes, want: 400400,
		},
		{
			condition: "store/media.UpdateVideoStreamHasChannel sqlStreamGuard", procedure: "ChannelService/CreateChannel", by: theAuthor,
			request: channel, change: calls(service+"DeleteVideoStreaming", "streamId=videoStreamId"), want: 400400,
			writes: []string{"daily_usages"},
		},
		{
			condition: "store/media.AttachVideoStream sqlStreamAttach", procedure: "PostService/CreatePost", by: theAuthor,
			request: embedded(streamsPath, "videoStreamings", "streamId", "liveStream"), change: deletesIt, want: 400000,
		},
		{
			condition: "store/media.TransitionVideoStream sqlStreamGuardStatus", procedure: service + "DeleteStreamingUrl", by: theAuthor,
			request: made(nil), change: again(adminToken), want: 400900,
		},
		{
			condition: "store/media.ModerateVideoStream sqlStreamGuardModeration", procedure: service + "ReportVideoStreaming", by: theMedia,
			request: made(streamReport("flagged", "")), change: again(theMedia), want: 400900,
		},
		{
			condition: "store/media.UpdateStreamBans sqlStreamGuardBans", procedure: service + "BanStreamViewers", by: theAuthor,
			request: banned, change: bans, want: 400900,
		},
	}
}

func roomGuardRows() []guardRow {
	deletes := calls("RoomService/DeleteRoom", "roomId")
	made := func(more object, fields ...object) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			return with(object{"roomId": text(newRoom(t, g.author, fields...), "roomId")}, more)
		}
	}
	child := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"title": "child", "parentRoomId": text(newRoom(t, g.author), "roomId")}
	}
	channel := func(t *testing.T, g *fixture) object {
		t.Helper()
		id := text(made(nil, object{"liveChatEnabled": true})(t, g), "roomId")
		g.exec(t, `UPDATE rooms SET has_channel = false WHERE id = $1`, id) // as if it were older
		return object{"type": "live", "roomId": id}
	}
	waiting := func(t *testing.T, g *fixture) object {
		t.Helper()
		id, key := roomInState(t, g.author, g.principals[theMedia], "waitingReconnect")
		return with(object{"roomId": id}, roomReport("started", key))
	}
	onStage := func(t *testing.T, g *fixture) object {
		t.Helper()
		g.principals[userOfRow] = g.user(t)
		room := text(newRoom(t, g.author, object{"type": "coHosts", "participants": []string{g.principals[userOfRow].UserID}}), "roomId")
		_, key := sendCredentials(t, g.author, room)
		again(theMedia)(t, g, "RoomService/ReportRoom", with(object{"roomId": room}, roomReport("started", key)))
		_, other := sendCredentials(t, g.principals[userOfRow], room)
		return with(object{"roomId": room}, roomReport("started", other))
	}
	deletesIt := func(t *testing.T, g *fixture, _ string, _ object) { t.Helper(); deletes(t, g, "", g.kept) }
	const service = "RoomService/"
	return []guardRow{
		{
			condition: "store/media.InsertRoom sqlRoomGuardParent", procedure: service + "CreateRoom", by: theAuthor,
			request: child, change: calls(service+"DeleteRoom", "roomId=parentRoomId"), want: 400000,
		},
		{condition: "store/media.UpdateRoom sqlRoomGuard", procedure: service + "UpdateRoom", by: theAuthor, change: deletes, want: 400400},
		{condition: "store/media.DeleteRoom sqlRoomGuard", procedure: service + "DeleteRoom", by: theAuthor, change: deletes, want: 400400},
		{
			condition: "store/media.UpdateRoomHasChannel sqlRoomGuard", procedure: "ChannelService/CreateChannel", by: theAuthor,
			request: channel, change: deletes, want: 400400,
			writes: []string{"daily_usages"},
		},
		{
			condition: "store/media.AttachRoom sqlRoomAttach", procedure: "PostService/CreatePost", by: theAuthor,
			request: embedded(roomsPath, "rooms", "roomId", "room"), change: deletesIt, want: 400000,
		},
		{
			condition: "store/media.TransitionRoom sqlRoomGuardStatus", procedure: service + "ReportRoom", by: theMedia,
			request: waiting, change: calls(service+"StopRoom", "roomId"), want: 400900,
		},
		{
			condition: "store/media.UpdateParticipants sqlRoomGuardParticipants", procedure: service + "RemoveRoomParticipant", by: theAuthor,
			change: again(adminToken), want: 400900,
		},
		{
			condition: "store/media.UpdateStage sqlRoomGuardStage", procedure: service + "ReportRoom", by: theMedia,
			request: onStage, change: again(theMedia), want: 400900,
		},
		{
			condition: "store/media.ModerateRoom sqlRoomGuardModeration", procedure: service + "ReportRoom", by: theMedia,
			request: made(roomReport("flagged", "")), change: again(theMedia), want: 400900,
		},
	}
}
