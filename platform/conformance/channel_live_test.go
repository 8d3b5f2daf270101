package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// TestChannelOfRoom checks that a room with a live chat has its live channel from the start, and that everyone who
// sees the room sees the channel.
func TestChannelOfRoom(t *testing.T) {
	t.Parallel()
	host, friend, stranger := newUser(t, region.EU, "host"), newUser(t, region.US, "friend"), newUser(t, region.SG, "stranger")
	room := host.Do(t, http.MethodPost, roomsPath, object{"title": "Live"}).OK(t)
	id := room.String(t, "rooms.0.liveChannelId")
	roomID := room.String(t, "rooms.0.roomId")
	require.NotEmpty(t, id)
	c := getChannel(t, stranger, id)
	require.Subset(t, c, object{
		"type": "live", "displayName": "Live", "memberCount": 1.0, "moderatorMemberCount": 1.0, "isPublic": false,
		"attachedTo": object{"roomId": roomID, "videoStreamId": "", "postId": ""},
	})
	require.Equal(t, []any{"channel-moderator"}, channelUser(t, host, id)["roles"])
	requireFailure(t, notMember, friend.Do(t, http.MethodGet, channelUsersPath(id), nil))
	friend.Do(t, http.MethodPost, channelPath(id)+"/join", nil).OK(t)
	message := (&chat{id: text(c, "_id")}).newMessage(t, friend, "hello")
	there := host.Do(t, http.MethodPost, channelsPath, object{"type": "live", "roomId": roomID, "channelId": roomID, "displayName": "other"})
	require.Equal(t, c["_id"], requireChannel(t, there)["_id"], "a request to create it returns it")

	private := newCommunity(t, host, object{"isPublic": false, "isDiscoverable": false})
	post := newPost(t, host, private, object{"dataType": "room", "data": object{"roomId": roomID}})
	require.Equal(t, post, getChannel(t, host, id)["attachedTo"].(object)["postId"])
	requireFailure(t, notFound, stranger.Do(t, http.MethodGet, channelPath(id), nil))
	requireFailure(t, notFound, stranger.Do(t, http.MethodPost, channelPath(id)+"/join", nil))
	require.Empty(t, stranger.Do(t, http.MethodGet, channelsPath+"/list?channelIds[]="+id, nil).OK(t).List(t, "channels"))
	live := &chat{id: text(c, "_id")}
	hidden := func() {
		t.Helper()
		messages := messagesPath + "?messageFeedId=" + live.id
		for _, r := range []*apptest.Response{
			friend.Do(t, http.MethodGet, channelPath(id), nil), friend.Do(t, http.MethodGet, messages, nil),
			live.sendMessage(t, friend, "still here"),
			friend.Do(t, http.MethodGet, subchannelsPath+"/"+live.id, nil), friend.Do(t, http.MethodGet, subchannelsPath+"/channel/"+live.id, nil),
			friend.Do(t, http.MethodGet, messagesPath+"/"+message, nil), friend.Do(t, http.MethodGet, channelUsersPath(id), nil),
			friend.Do(t, http.MethodPost, subchannelsPath, object{"channelId": id, "name": "hidden"}),
		} {
			requireFailure(t, notFound, r)
		}
		for list, path := range map[string]string{
			"messageFeeds":   subchannelsPath + "/list?messageFeedIds[]=" + live.id,
			"channels":       channelsPath + "/list?channelIds[]=" + id,
			"messages":       messagesPath + "/list?messageIds[]=" + message,
			"contentMarkers": markersPath + "/messages?messageIds[]=" + message,
		} {
			require.Empty(t, friend.Do(t, http.MethodGet, path, nil).OK(t).List(t, list), path)
		}
	}
	hidden() // the friend is a member of the channel and no longer sees the room
	host.Do(t, http.MethodPost, membersPath(private), object{"userIds": userIDs(stranger, friend)}).OK(t)
	stranger.Do(t, http.MethodPost, channelPath(id)+"/join", nil).OK(t)
	live.newMessage(t, friend, "back again")
	host.Do(t, http.MethodPut, membersPath(private)+"/ban", object{"userIds": userIDs(friend)}).OK(t)
	hidden()

	host.Do(t, http.MethodDelete, roomsPath+"/"+roomID, nil).OK(t)
	require.Equal(t, true, getChannel(t, host, id)["isDeleted"])
	requireFailure(t, notFound, live.sendMessage(t, friend, "hello?"))
}

// TestRoomWithoutChannel creates the live channel later, when the host enables the chat.
func TestRoomWithoutChannel(t *testing.T) {
	t.Parallel()
	host, stranger := newUser(t, region.US, "host"), newUser(t, region.EU, "stranger")
	room := host.Do(t, http.MethodPost, roomsPath, object{"title": "Quiet", "liveChatEnabled": false}).OK(t)
	require.Empty(t, room.String(t, "rooms.0.liveChannelId"))
	id := room.String(t, "rooms.0.roomId")
	live := object{"type": "live", "roomId": id}
	requireAttempts(t, []attempt{
		{"none", host, http.MethodGet, channelPath(id), nil, notFound},
		{"not wanted", host, http.MethodPost, channelsPath, live, forbidden},
		{"another's", stranger, http.MethodPost, channelsPath, live, notAllowed},
		{"no room", host, http.MethodPost, channelsPath, with(live, object{"roomId": unknownID}), notFound},
		{"nonsense", host, http.MethodPost, channelsPath, with(live, object{"roomId": "room"}), notFound},
		{"other id", host, http.MethodPost, channelsPath, with(live, object{"channelId": "chosen"}), invalid("channelId")},
		{"two things", host, http.MethodPost, channelsPath, with(live, object{"videoStreamId": id}), invalid("videoStreamId, roomId")},
	})
	room = host.Do(t, http.MethodPut, roomsPath+"/"+id, object{"liveChatEnabled": false}).OK(t)
	require.Empty(t, room.String(t, "rooms.0.liveChannelId"))
	for range 2 {
		room = host.Do(t, http.MethodPut, roomsPath+"/"+id, object{"liveChatEnabled": true}).OK(t)
		require.Equal(t, id, room.String(t, "rooms.0.liveChannelId"))
	}
	require.InDelta(t, 1, getChannel(t, stranger, id)["memberCount"], 0)
	requireFailure(t, failure{status: 400, code: 400000},
		host.Do(t, http.MethodPost, channelsPath, with(live, object{"postId": newWallPost(t, host)})))
}

// TestRoomCreatedBeforeChannels checks that a room that predates channels has none until its host creates it.
func TestRoomCreatedBeforeChannels(t *testing.T) {
	t.Parallel()
	host := newUser(t, region.EU, "host")
	id := host.Do(t, http.MethodPost, roomsPath, object{"title": "Old"}).OK(t).String(t, "rooms.0.roomId")
	stream := text(newStream(t, host), "streamId")
	posts := map[string]string{}
	for kind, data := range map[string]object{"room": {"roomId": id}, "liveStream": {"streamId": stream}} {
		body := object{"targetType": "user", "dataType": kind, "data": data}
		posts[kind] = host.Do(t, http.MethodPost, "/api/v4/posts", body).OK(t).String(t, "posts.0.postId")
	}
	for _, table := range []string{"channels", "message_feeds"} {
		execute(t, host.Network, "DELETE FROM "+table+" WHERE id IN ('"+id+"', '"+stream+"')")
	}
	execute(t, host.Network, "DELETE FROM channel_users WHERE channel_id IN ('"+id+"', '"+stream+"')")
	execute(t, host.Network, "DELETE FROM counters WHERE ref IN ('"+id+"', '"+stream+"')")
	execute(t, host.Network, "UPDATE rooms SET has_channel = false WHERE id = '"+id+"'")
	execute(t, host.Network, "UPDATE video_streams SET has_channel = false WHERE id = '"+stream+"'")
	require.Empty(t, host.Do(t, http.MethodGet, roomsPath+"/"+id, nil).OK(t).String(t, "rooms.0.liveChannelId"))
	made := requireChannel(t, host.Do(t, http.MethodPost, channelsPath,
		object{"type": "live", "roomId": id, "postId": posts["room"], "displayName": "Now"}))
	require.Subset(t, made, object{
		"channelId": id, "displayName": "Now", "attachedTo": object{"roomId": id, "videoStreamId": "", "postId": posts["room"]},
	})
	require.Equal(t, id, host.Do(t, http.MethodGet, roomsPath+"/"+id, nil).OK(t).String(t, "rooms.0.liveChannelId"))
	made = requireChannel(t, host.Do(t, http.MethodPost, channelsPath, object{"type": "live", "videoStreamId": stream}))
	require.Equal(t, stream, made["channelId"])
	require.Equal(t, object{"roomId": "", "videoStreamId": stream, "postId": posts["liveStream"]}, made["attachedTo"])
	require.Equal(t, stream, host.Do(t, http.MethodGet, streamsPath+"/"+stream, nil).OK(t).String(t, "videoStreamings.0.channelId"))
}

func TestChannelOfStream(t *testing.T) {
	t.Parallel()
	owner, stranger := newUser(t, region.EU, "owner"), newUser(t, region.SG, "stranger")
	r := owner.Do(t, http.MethodPost, streamsPath, object{"title": "Live"}).OK(t)
	id := r.String(t, "videoStreamings.0.channelId")
	require.Equal(t, r.String(t, "videoStreamings.0.streamId"), id)
	require.Subset(t, getChannel(t, stranger, id)["attachedTo"], object{"videoStreamId": id})
	stranger.Do(t, http.MethodPost, channelPath(id)+"/join", nil).OK(t)
	quiet := owner.Do(t, http.MethodPost, streamsPath, object{"title": "Live", "channelEnabled": false}).OK(t)
	require.Empty(t, quiet.String(t, "videoStreamings.0.channelId"))
	body := object{"type": "live", "videoStreamId": quiet.String(t, "videoStreamings.0.streamId")}
	requireFailure(t, forbidden, owner.Do(t, http.MethodPost, channelsPath, body))
	owner.Do(t, http.MethodDelete, streamsPath+"/"+id, nil).OK(t)
	require.Equal(t, true, getChannel(t, owner, id)["isDeleted"])
}

// TestUnattachedLiveChannels covers live channels of a post, and those of nothing, which everyone who knows their id
// sees.
func TestUnattachedLiveChannels(t *testing.T) {
	t.Parallel()
	author, friend, stranger := newUser(t, region.EU, "author"), newUser(t, region.US, "friend"), newUser(t, region.SG, "stranger")
	private := newCommunity(t, author, object{"isPublic": false, "isDiscoverable": false, "userIds": []string{friend.UserID}})
	post := newPost(t, author, private)
	live := object{"type": "live", "postId": post}
	requireFailure(t, notAllowed, friend.Do(t, http.MethodPost, channelsPath, live))
	requireFailure(t, notFound, stranger.Do(t, http.MethodPost, channelsPath, live))
	id := text(requireChannel(t, author.Do(t, http.MethodPost, channelsPath, live)), "channelId")
	friend.Do(t, http.MethodPost, channelPath(id)+"/join", nil).OK(t)
	requireFailure(t, notFound, stranger.Do(t, http.MethodGet, channelPath(id), nil))
	free := newChannel(t, author, object{"type": "live"})
	stranger.Do(t, http.MethodPost, channelPath(free)+"/join", nil).OK(t)
	l := listing{by: friend, path: channelsPath, list: "channels", id: "channelId"}
	l.with("types[]", "live").requireOrder(t, []string{id})
}
