package conformance

import (
	"net/http"
	"testing"
)

// liveRows are the rows of video streams and rooms.
func liveRows() []row { return append(streamRows(), roomRows()...) }

// carriedBy builds a request for a new stream or room of the author that is attached to a post.
func carriedBy(path, list, field, dataType string, private bool, more object) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		id := g.author.Do(t, http.MethodPost, path, object{"title": "live"}).OK(t).String(t, list+".0."+field)
		community := map[bool]string{false: g.open, true: g.private}[private]
		newPost(t, g.author, community, object{"dataType": dataType, "data": object{"text": "x", field: id}})
		return with(object{field: id}, more)
	}
}

func streamRows() []row {
	carried := func(private bool, more object) func(*testing.T, *fixture) object {
		return carriedBy(streamsPath, "videoStreamings", "streamId", "liveStream", private, more)
	}
	title := func(*testing.T, *fixture) object { return object{"title": "live"} }
	viewers := func(private bool) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			return carried(private, object{"userIds": []string{g.user(t).UserID}})(t, g)
		}
	}
	banned := func(t *testing.T, g *fixture) object {
		t.Helper()
		request := viewers(false)(t, g)
		g.author.Do(t, http.MethodPut, streamsPath+"/"+text(request, "streamId")+"/users/ban", object{"userIds": request["userIds"]}).OK(t)
		return request
	}
	return []row{
		{procedure: "VideoStreamingService/CreateVideoStreaming", request: title, want: usersOnly},
		{procedure: "VideoStreamingService/GetVideoStreaming", request: carried(false, nil), want: everyone},
		{
			procedure: "VideoStreamingService/GetVideoStreaming", name: "private", request: carried(true, nil),
			want: codesFor(400400, 0, 0, 400400, 0),
		},
		{procedure: "VideoStreamingService/ListVideoStreamings", request: noFields, want: everyone},
		{
			procedure: "VideoStreamingService/ListVideoStreamings", name: "deleted",
			request: func(*testing.T, *fixture) object { return object{"isDeleted": true} }, want: adminsOnly,
		},
		{procedure: "VideoStreamingService/UpdateVideoStreaming", request: carried(false, object{"title": "x"}), want: adminsOnly},
		{procedure: "VideoStreamingService/BanStreamViewers", request: viewers(false), want: adminsOnly},
		{
			procedure: "VideoStreamingService/BanStreamViewers", name: "private", request: viewers(true),
			want: codesFor(400400, 400300, 400300, 400400, 0),
		},
		{procedure: "VideoStreamingService/UnbanStreamViewers", request: banned, want: adminsOnly},
		{procedure: "VideoStreamingService/DeleteVideoStreaming", request: carried(false, nil), want: adminsOnly},
		{procedure: "VideoStreamingService/DeleteStreamingUrl", request: carried(false, nil), want: adminsOnly},
		{procedure: "VideoStreamingService/ReportVideoStreaming", request: carried(false, object{"event": "failed"}), want: keysOnly()},
	}
}

func roomRows() []row {
	carried := func(private bool, more object) func(*testing.T, *fixture) object {
		return carriedBy(roomsPath, "rooms", "roomId", "room", private, more)
	}
	title := func(*testing.T, *fixture) object { return object{"title": "live"} }
	guest := func(t *testing.T, g *fixture) object {
		t.Helper()
		guest := g.user(t).UserID
		id := g.author.Do(t, http.MethodPost, roomsPath,
			object{"title": "live", "type": "coHosts", "participants": []string{guest}}).OK(t).String(t, "rooms.0.roomId")
		return object{"roomId": id, "userId": guest}
	}
	participantsOnly := codesFor(400300, 400300, 400300, 400300, 400300)
	return []row{
		{procedure: "RoomService/CreateRoom", request: title, want: usersOnly},
		{procedure: "RoomService/GetRoom", request: carried(false, nil), want: everyone},
		{procedure: "RoomService/GetRoom", name: "private", request: carried(true, nil), want: codesFor(400400, 0, 0, 400400, 0)},
		{procedure: "PresenceService/GetPresenceSettings", request: noFields, want: usersOnly},
		{
			procedure: "PresenceService/UpdateUserPresenceSetting", request: func(*testing.T, *fixture) object { return object{"enabled": true} },
			want: usersOnly,
		},
		{procedure: "PresenceService/SendHeartbeat", request: noFields, want: usersOnly},
		{
			procedure: "PresenceService/BatchGetPresences",
			request:   func(_ *testing.T, g *fixture) object { return object{"userIds": []string{g.boss.UserID}} }, want: everyone,
		},
		{procedure: "PresenceService/ListPresences", request: noFields, want: everyone},
		{procedure: "PresenceService/CountPresences", request: noFields, want: everyone},
		{procedure: "PresenceService/SendRoomHeartbeat", request: carried(false, nil), want: usersOnly},
		{
			procedure: "PresenceService/SendRoomHeartbeat", name: "private", request: carried(true, nil),
			want: codesFor(400400, 0, 0, 400400, 400300),
		},
		{procedure: "PresenceService/ListRoomViewers", request: carried(false, nil), want: everyone},
		{procedure: "PresenceService/ListRoomViewers", name: "private", request: carried(true, nil), want: codesFor(400400, 0, 0, 400400, 0)},
		{procedure: "PresenceService/CountRoomViewers", request: carried(false, nil), want: everyone},
		{procedure: "PresenceService/CountRoomViewers", name: "private", request: carried(true, nil), want: codesFor(400400, 0, 0, 400400, 0)},
		{procedure: "RoomService/ListRooms", request: noFields, want: everyone},
		{
			procedure: "RoomService/ListRooms", name: "deleted", request: func(*testing.T, *fixture) object { return object{"isDeleted": true} },
			want: adminsOnly,
		},
		{procedure: "RoomService/ListLiveRooms", request: noFields, want: everyone},
		{procedure: "RoomService/UpdateRoom", request: carried(false, object{"title": "x"}), want: adminsOnly},
		{procedure: "RoomService/DeleteRoom", request: carried(false, nil), want: adminsOnly},
		{procedure: "RoomService/StopRoom", request: carried(false, nil), want: adminsOnly},
		{procedure: "RoomService/LeaveRoom", request: carried(false, nil), want: usersOnly},
		{procedure: "RoomService/GetRoomToken", request: carried(false, nil), want: participantsOnly},
		{procedure: "RoomService/GetRoomRecordings", request: carried(false, nil), want: everyone},
		{procedure: "RoomService/RemoveRoomParticipant", request: guest, want: adminsOnly},
		{procedure: "RoomService/UpdateRoomParticipant", request: guest, want: adminsOnly},
		{procedure: "RoomService/ReportRoom", request: carried(false, object{"event": "failed"}), want: keysOnly()},
	}
}
