package conformance

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// roomTopic returns the topic of a room, for those who watch it.
func roomTopic(n *apptest.Network, id string) string { return n.NetworkID + "/room/" + id }

// liveAct is an act on a room or stream and the event that reports it.
type liveAct struct {
	name string
	act  func(*testing.T)
}

// requireLive makes each act and checks that all readers receive its event, with a value in it.
func requireLive(t *testing.T, path, value string, acts []liveAct, readers ...*apptest.MQTTClient) {
	t.Helper()
	for _, a := range acts {
		a.act(t)
		for _, reader := range readers {
			e := nextLive(t, reader)
			require.Equal(t, a.name, e.EventType, e.Text)
			require.Equal(t, value, e.Response().String(t, path), a.name)
		}
	}
}

// nextLive returns the next event, except for those about the stage of a room, see TestMQTTStageEvents.
func nextLive(t *testing.T, m *apptest.MQTTClient) apptest.MQTTEvent {
	t.Helper()
	e := m.Next(t)
	for strings.HasPrefix(e.EventType, "room.participantStage") {
		e = m.Next(t)
	}
	return e
}

// TestMQTTStageEvents has the host and a co-host send to a room, one after the other, until the co-host leaves and the room ends.
func TestMQTTStageEvents(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	host, guest, watcher := n.NewUser(t, region.EU, "host"), n.NewUser(t, region.US, "guest"), n.NewUser(t, region.SG, "watcher")
	id := text(newRoom(t, host, object{"type": "coHosts", "participants": []string{guest.UserID}}), "roomId")
	_, ownKey := sendCredentials(t, host, id)
	_, guestKey := sendCredentials(t, guest, id)
	reader := connected(t, watcher, roomTopic(n, id))
	report := func(event, key string) func(*testing.T) {
		return do(mediaServer(n), http.MethodPost, mediaRoomsPath+id+"/events", roomReport(event, key))
	}
	const joined, left = "room.participantStageJoined", "room.participantStageLeft"
	for _, want := range []struct {
		act    func(*testing.T)
		events []string
		actor  *apptest.Client // of the events about participants
	}{
		{report("started", ownKey), []string{joined, "room.startBroadcasting"}, host},
		{report("started", guestKey), []string{joined}, guest},
		{do(guest, http.MethodPost, roomsPath+"/"+id+"/leave", nil), []string{left, "room.participantLeft"}, guest},
		{report("interrupted", ownKey), []string{left, "room.waitingReconnect"}, host},
		{report("started", ownKey), []string{joined, "room.startBroadcasting"}, host},
		{do(host, http.MethodPost, roomsPath+"/"+id+"/stop", nil), []string{left, "room.endBroadcasting"}, host},
	} {
		want.act(t)
		var names []string // those of one act have no order
		for range want.events {
			e := reader.Next(t)
			names = append(names, e.EventType)
			require.Equal(t, id, e.Response().String(t, "data.rooms.0.roomId"))
			if strings.HasPrefix(e.EventType, "room.participant") {
				require.Equal(t, want.actor.InternalID, e.Response().String(t, "data.eventActor.userInternalId"))
				require.Contains(t, e.Response().Strings(t, "data.users", "userId"), want.actor.UserID)
			}
		}
		require.ElementsMatch(t, want.events, names)
	}
}

// TestMQTTRoomEvents takes a room in a private community through its states, watched in another region.
func TestMQTTRoomEvents(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	host, watcher, stranger := n.NewUser(t, region.EU, "host"), n.NewUser(t, region.US, "watcher"), n.NewUser(t, region.SG, "stranger")
	community := newCommunity(t, host, object{"isPublic": false, "userIds": []string{watcher.UserID}})
	id := text(newRoom(t, host), "roomId")
	early := stranger.ConnectMQTT(t).RequireSubscribe(t, roomTopic(n, id)) // while the room is not part of a post
	require.False(t, early.Subscribe(t, roomTopic(n, id)+"/streamer"))
	host.Do(t, http.MethodPost, "/api/v4/posts", object{
		"targetType": "community", "targetId": community, "dataType": "room", "data": object{"text": "x", "roomId": id},
	}).OK(t)
	_, key := sendCredentials(t, host, id)
	reader, stage := connected(t, watcher, roomTopic(n, id)), connected(t, host, roomTopic(n, id)+"/streamer")
	report := func(event string) func(*testing.T) {
		return do(mediaServer(n), http.MethodPost, mediaRoomsPath+id+"/events", roomReport(event, key))
	}
	require.False(t, reader.Subscribe(t, roomTopic(n, id)+"/streamer"))
	requireLive(t, "data.rooms.0.roomId", id, []liveAct{
		{"room.didUpdate", do(host, http.MethodPut, roomsPath+"/"+id, object{"title": "T"})},
		{"room.startBroadcasting", report("started")},
		{"room.waitingReconnect", report("interrupted")},
		{"room.startBroadcasting", report("started")},
		{"room.endBroadcasting", do(host, http.MethodPost, roomsPath+"/"+id+"/stop", nil)},
		{"room.recordedAvailable", report("recorded")},
	}, reader, stage)

	require.False(t, n.NewUser(t, region.EU, "late").ConnectMQTT(t).Subscribe(t, roomTopic(n, id)),
		"the room is part of a private community now")
	other := text(newRoom(t, host), "roomId")
	early.RequireSubscribe(t, roomTopic(n, other))
	mediaServer(n).Do(t, http.MethodPost, mediaRoomsPath+other+"/events", roomReport("terminated", "")).OK(t)
	e, _ := early.Until(t, "room.terminated") // access to the first room may be kept for two seconds
	require.Equal(t, roomTopic(n, other), e.Path)
}

// TestMQTTParticipantEvents covers co-hosts and their invitations, of which only those who take part learn.
func TestMQTTParticipantEvents(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	host, guest, watcher := newUser(t, region.EU, "host"), newUser(t, region.US, "guest"), newUser(t, region.SG, "watcher")
	id := newCoHostRoom(t, host)
	stage, own, reader := connected(t, host, roomTopic(n, id)+"/streamer"), connected(t, guest, n.NetworkID+"/user/"+guest.InternalID),
		connected(t, watcher, roomTopic(n, id))
	invite := func(t *testing.T) string {
		t.Helper()
		made := host.Do(t, http.MethodPost, invitationsPath, object{
			"type": "livestreamCohostInvite", "targetType": "room", "targetId": id, "userIds": []string{guest.UserID},
		}).OK(t).String(t, "invitations.0._id")
		for _, m := range []*apptest.MQTTClient{stage, own} {
			e := m.Next(t)
			require.Equal(t, "room.didCohostInvite", e.EventType)
			require.Equal(t, made, e.Response().String(t, "data.invitations.0._id"))
			require.Equal(t, host.InternalID, e.SenderID)
		}
		return made
	}
	answered := func(name string) {
		t.Helper()
		for _, m := range []*apptest.MQTTClient{stage, own} {
			e := m.Next(t)
			require.Equal(t, name, e.EventType)
			require.Equal(t, guest.InternalID, e.Response().String(t, "data.invitations.0.invitedUserInternalId"))
		}
	}
	joined := func(name string) {
		t.Helper()
		for _, m := range []*apptest.MQTTClient{stage, reader} {
			e := m.Next(t)
			require.Equal(t, name, e.EventType)
			require.Equal(t, guest.InternalID, e.Response().String(t, "data.eventActor.userInternalId"))
			require.Contains(t, e.Response().Strings(t, "data.users", "userId"), guest.UserID)
		}
	}
	guest.Do(t, http.MethodPost, invitationsPath+"/"+invite(t)+"/reject", nil).OK(t)
	answered("room.didCohostInviteReject")
	cancelInvitation(t, host, invite(t))
	answered("room.didCohostInviteCancel")
	participant := roomsPath + "/" + id + "/participants/" + guest.UserID
	for _, left := range []liveAct{
		{"room.participantRemoved", do(host, http.MethodDelete, participant, nil)},
		{"room.participantLeft", do(guest, http.MethodPost, roomsPath+"/"+id+"/leave", nil)},
	} {
		guest.Do(t, http.MethodPost, invitationsPath+"/"+invite(t)+"/accept", nil).OK(t)
		require.Equal(t, "room.didCohostInviteAccept", own.Next(t).EventType)
		require.ElementsMatch(t, []string{"room.didCohostInviteAccept", "room.participantJoined"},
			[]string{stage.Next(t).EventType, stage.Next(t).EventType})
		require.Equal(t, "room.participantJoined", reader.Next(t).EventType)
		host.Do(t, http.MethodPut, participant, object{"canManageProductTags": true}).OK(t)
		joined("room.didUpdate")
		left.act(t)
		joined(left.name)
	}
}

// TestMQTTStreamEvents covers video streams, whose events all users of the network who may watch the stream receive.
func TestMQTTStreamEvents(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	host, watcher, stranger := n.NewUser(t, region.EU, "host"), n.NewUser(t, region.US, "watcher"), n.NewUser(t, region.SG, "stranger")
	community := newCommunity(t, host, object{"isPublic": false, "userIds": []string{watcher.UserID}})
	row := newStream(t, host)
	id := text(row, "streamId")
	host.Do(t, http.MethodPost, "/api/v4/posts", object{
		"targetType": "community", "targetId": community, "dataType": "liveStream", "data": object{"text": "x", "streamId": id},
	}).OK(t)
	topic := n.NetworkID + "/videostreaming"
	reader, other := connected(t, watcher, topic), connected(t, stranger, topic)
	labels := []object{{"category": "violence", "threshold": 0.9}}
	report := func(stream string, body object) func(*testing.T) {
		return do(mediaServer(n), http.MethodPost, mediaStreamsPath+stream+"/events", body)
	}
	recordings := []object{{"mp4": object{"url": "https://r.test/1.mp4"}}}
	requireLive(t, "data.videoStreamings.0.streamId", id, []liveAct{
		{"video-streaming.didStart", report(id, object{"event": "started", "streamKey": streamKey(t, row)})},
		{"video-streaming.didFlag", report(id, object{"event": "flagged", "labels": labels})},
		{"video-streaming.didStop", report(id, object{"event": "stopped"})},
		{"video-streaming.didRecord", report(id, object{"event": "recorded", "recordings": recordings})},
	}, reader)
	open := text(newStream(t, host), "streamId")
	requireLive(t, "data.videoStreamings.0.streamId", open, []liveAct{
		{"video-streaming.didTerminate", report(open, object{"event": "terminated", "labels": labels})},
	}, reader, other) // the stranger received nothing before
	require.False(t, other.Subscribe(t, topic+"/#"))
}

// TestMQTTBroadcastsOfBannedUsers checks that those who watch learn that a ban of the host ends a room and a stream.
func TestMQTTBroadcastsOfBannedUsers(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	watcher := n.NewUser(t, region.US, "watcher")
	for name, ban := range map[string]func(boss, host *apptest.Client, community string){
		"from the network": func(_, host *apptest.Client, _ string) {
			n.Admin(region.EU).Do(t, http.MethodPost, "/api/v2/users/ban", object{"userId": host.UserID}).OK(t)
		},
		"from the community": func(boss, host *apptest.Client, community string) { banMember(t, boss, community, host) },
	} {
		t.Run(name, func(t *testing.T) {
			boss, host := n.NewUser(t, region.SG, "boss"), n.NewUser(t, region.EU, "host")
			community := newCommunity(t, boss, object{"userIds": []string{host.UserID}})
			room, stream := text(newRoom(t, host), "roomId"), newStream(t, host)
			for kind, id := range map[string]string{"room": room, "liveStream": text(stream, "streamId")} {
				field := map[string]string{"room": "roomId", "liveStream": "streamId"}[kind]
				host.Do(t, http.MethodPost, "/api/v4/posts", object{
					"targetType": "community", "targetId": community, "dataType": kind, "data": object{"text": "x", field: id},
				}).OK(t)
			}
			_, key := sendCredentials(t, host, room)
			mediaServer(n).Do(t, http.MethodPost, mediaRoomsPath+room+"/events", roomReport("started", key)).OK(t)
			mediaServer(n).Do(t, http.MethodPost, mediaStreamsPath+text(stream, "streamId")+"/events",
				object{"event": "started", "streamKey": streamKey(t, stream)}).OK(t)
			reader := connected(t, watcher, roomTopic(n, room), n.NetworkID+"/videostreaming")
			ban(boss, host, community)
			names := []string{nextLive(t, reader).EventType, nextLive(t, reader).EventType}
			require.ElementsMatch(t, []string{"room.terminated", "video-streaming.didTerminate"}, names)
		})
	}
}

// TestMQTTLiveReactions reacts to a live post in a private community, in two requests at different servers.
func TestMQTTLiveReactions(t *testing.T) {
	t.Parallel()
	host, viewer, stranger := newUser(t, region.EU, "host"), newUser(t, region.US, "viewer"), newUser(t, region.SG, "stranger")
	community := newCommunity(t, host, object{"isPublic": false, "userIds": []string{viewer.UserID}})
	room := text(newRoom(t, host), "roomId")
	post := host.Do(t, http.MethodPost, "/api/v4/posts", object{
		"targetType": "community", "targetId": community, "dataType": "room", "data": object{"text": "x", "roomId": room},
	}).OK(t)
	id, topic := post.String(t, "posts.0.postId"), post.String(t, "posts.0.path")+"/liveReaction"
	reader := connected(t, host, topic)
	require.False(t, stranger.ConnectMQTT(t).Subscribe(t, topic))
	reaction := func(name, postID string) object {
		return object{
			"reactionName": name, "referencePublicId": postID, "referenceType": "post",
			"occurredAt": time.Now().UTC().Format(time.RFC3339Nano), "roomId": room,
		}
	}
	const path = "/api/v1/reactions/live"
	body := object{"roomId": room, "reactions": []object{reaction("fire", id), reaction("heart", id), reaction("fire", unknownID)}}
	require.Len(t, viewer.Do(t, http.MethodPost, path, body).OK(t).List(t, "addedIds"), 2, "those to another post are ignored")
	require.Len(t, viewer.At(region.SG).Do(t, http.MethodPost, path, object{"reactions": []object{reaction("wow", id)}}).OK(t).List(t,
		"addedIds"), 1)
	var names []string
	for len(names) < 3 {
		e := reader.Next(t)
		require.Equal(t, "liveReaction.created", e.EventType)
		require.Equal(t, topic, e.Path)
		for _, each := range e.Response().List(t, "data.reactions") {
			r := each.(object)
			require.Equal(t, []any{viewer.UserID, id, "post"}, []any{r["userId"], r["referencePublicId"], r["referenceType"]})
			names = append(names, text(r, "reactionName"))
		}
	}
	require.ElementsMatch(t, []string{"fire", "heart", "wow"}, names)
	stream := text(newStream(t, host), "streamId")
	watched := host.Do(t, http.MethodPost, "/api/v4/posts", object{
		"targetType": "community", "targetId": community, "dataType": "liveStream", "data": object{"text": "x", "streamId": stream},
	}).OK(t)
	ofStream := object{"reactionName": "fire", "referenceId": watched.String(t, "posts.0.postId"), "referenceType": "post"}
	body = object{"liveStreamId": stream, "reactions": []object{ofStream, reaction("fire", id)}}
	require.Len(t, viewer.Do(t, http.MethodPost, path, body).OK(t).List(t, "addedIds"), 1, "those to another post are ignored")
	requireFailure(t, notFound, stranger.Do(t, http.MethodPost, path, body))
	body = object{"roomId": room, "reactions": []object{reaction("fire", id)}}
	requireFailure(t, notFound, stranger.Do(t, http.MethodPost, path, body))
	requireFailure(t, invalid("reactions"), viewer.Do(t, http.MethodPost, path,
		object{"reactions": []object{reaction("a", id), reaction("b", unknownID)}}))
	requireFailure(t, invalid("reactions"), viewer.Do(t, http.MethodPost, path, object{"roomId": room}))
	requireFailure(t, notFound, viewer.Do(t, http.MethodPost, path, with(body, object{"roomId": unknownID})))
}
