package conformance

import (
	"net/http"
	"testing"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// anyone are all users.
func anyone(*listener) bool { return true }

// walkRoom are the events about a room of the author in a community, which those receive who see its post, and about its stage.
func walkRoom(t *testing.T, w *eventWalk, public bool) {
	t.Helper()
	host, n := w.users[author], w.n
	id := text(newRoom(t, host, object{"type": "coHosts"}), "roomId")
	club := w.newClub(t, public)
	post := newPost(t, host, club, object{"dataType": "room", "data": object{"text": "x", "roomId": id}})
	reactions := communityTopic(host, club) + "/post/" + post + "/liveReaction"
	other := text(newRoom(t, host), "roomId")
	newPost(t, host, club, object{"dataType": "room", "data": object{"text": "x", "roomId": other}})
	sees, seesOther := readersOf(t, roomsPath+"/"+id), readersOf(t, roomsPath+"/"+other)
	w.enterClub(t, club, map[string]audience{
		roomTopic(n, id): sees, roomTopic(n, id) + "/streamer": only(author), roomTopic(n, other): seesOther, reactions: w.inClub(t, club),
	})
	walkCoHosts(t, w, id, sees)

	_, key := sendCredentials(t, host, id)
	media := func(roomID, event string) func() {
		return func() {
			mediaServer(n).At(region.EU).Do(t, http.MethodPost, mediaRoomsPath+roomID+"/events", roomReport(event, key)).OK(t)
		}
	}
	const joined, left = "room.participantStageJoined", "room.participantStageLeft"
	w.happens(t, func() { w.call(t, host, "RoomService/UpdateRoom", object{"roomId": id, "title": "new"}) }, event{"room.didUpdate", sees})
	w.happens(t, media(id, "started"), event{"room.startBroadcasting", sees}, event{joined, sees})
	live := object{"reactions": []object{{"reactionName": "fire", "referencePublicId": post, "referenceType": "post"}}}
	react := func() { w.call(t, w.users[member], "ReactionService/CreateLiveReactions", live) }
	w.happens(t, react, event{"liveReaction.created", readersOf(t, "/api/v3/posts/"+post)})
	w.happens(t, media(id, "interrupted"), event{"room.waitingReconnect", sees}, event{left, sees})
	w.happens(t, media(id, "started"), event{"room.startBroadcasting", sees}, event{joined, sees})
	w.happens(t, func() { w.call(t, host, "RoomService/StopRoom", object{"roomId": id}) }, event{"room.endBroadcasting", sees},
		event{left, sees})
	w.happens(t, media(id, "recorded"), event{"room.recordedAvailable", sees})
	w.happens(t, media(other, "terminated"), event{"room.terminated", seesOther})
}

// walkCoHosts are the events about the co-hosts of a room. Those about invitations are for those who take part and for who is invited.
func walkCoHosts(t *testing.T, w *eventWalk, id string, sees audience) {
	t.Helper()
	host, guest := w.users[author], w.users[member]
	var invitation string
	invite := func() { invitation = newInvitation(t, host, inviteCoHosts(id, guest)) }
	answer := func(by *apptest.Client, operation string) func() {
		return func() { w.call(t, by, "InvitationService/"+operation, object{"invitationId": invitation}) }
	}
	concerned := only(author, member)
	accept := func() {
		w.happens(t, invite, event{"room.didCohostInvite", concerned})
		w.happens(t, answer(guest, "AcceptInvitation"), event{"room.didCohostInviteAccept", concerned}, event{"room.participantJoined", sees})
	}
	w.happens(t, invite, event{"room.didCohostInvite", concerned})
	w.happens(t, answer(guest, "RejectInvitation"), event{"room.didCohostInviteReject", concerned})
	w.happens(t, invite, event{"room.didCohostInvite", concerned})
	w.happens(t, answer(host, "CancelInvitation"), event{"room.didCohostInviteCancel", concerned})
	accept()
	w.happens(t, func() { w.call(t, guest, "RoomService/LeaveRoom", object{"roomId": id}) }, event{"room.participantLeft", sees})
	accept()
	remove := object{"roomId": id, "userId": guest.UserID}
	w.happens(t, func() { w.call(t, host, "RoomService/RemoveRoomParticipant", remove) }, event{"room.participantRemoved", sees})
}

// walkStream are the events about a video stream of the author in a community. All users may subscribe to their topic.
func walkStream(t *testing.T, w *eventWalk, public bool) {
	t.Helper()
	host, n := w.users[author], w.n
	stream := newStream(t, host)
	id, key := text(stream, "streamId"), streamKey(t, stream)
	club := w.newClub(t, public)
	newPost(t, host, club, object{"dataType": "liveStream", "data": object{"text": "x", "streamId": id}})
	second := newStream(t, host)
	other := text(second, "streamId")
	newPost(t, host, club, object{"dataType": "liveStream", "data": object{"text": "x", "streamId": other}})
	sees := readersOf(t, streamsPath+"/"+id)
	w.enterClub(t, club, map[string]audience{n.NetworkID + "/videostreaming": anyone, n.NetworkID: anyone})
	media := func(streamID, event, key string) func() {
		return func() {
			mediaServer(n).At(region.EU).Do(t, http.MethodPost, mediaStreamsPath+streamID+"/events", streamReport(event, key)).OK(t)
		}
	}
	viewers := func(operation string) func() {
		return func() {
			w.call(t, host, "VideoStreamingService/"+operation, object{"streamId": id, "userIds": userIDs(w.users[mutedUser])})
		}
	}
	w.happens(t, media(id, "started", key), event{"video-streaming.didStart", sees})
	w.happens(t, media(id, "flagged", key), event{"video-streaming.didFlag", sees})
	w.happens(t, viewers("BanStreamViewers"), event{"video-streaming.viewerDidBan", sees.and(only(mutedUser))})
	w.happens(t, viewers("UnbanStreamViewers"), event{"video-streaming.viewerDidUnban", sees})
	w.happens(t, media(id, "stopped", key), event{"video-streaming.didStop", sees})
	w.happens(t, media(id, "recorded", key), event{"video-streaming.didRecord", sees})
	terminate := media(other, "terminated", streamKey(t, second))
	w.happens(t, terminate, event{"video-streaming.didTerminate", readersOf(t, streamsPath+"/"+other)})
}
