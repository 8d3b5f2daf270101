package conformance

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	roomsPath      = "/api/v1/rooms"
	mediaRoomsPath = "/api/v1/media-server/rooms/"
)

var (
	roomFields = resource{
		"_id": "id", "type": "s", "targetId": "s", "targetType": "s", "referenceType": "s", "referenceId": "s", "liveChannelId": "s",
		"liveChatEnabled": "b", "title": "s", "roomId": "id", "description": "s", "thumbnailFileId": "s", "status": "s", "participants": "[]",
		"livePlaybackUrl": "s", "liveThumbnailUrl": "s", "recordedPlaybackInfos": "[]", "durationSeconds": "n", "moderation": "o",
		"parentRoomId": "s", "childRoomIds": "s[]", "createdAt": "ts", "createdBy": "s", "creatorInternalId": "id", "updatedAt": "ts",
		"liveAt": "ts?", "endedAt": "ts?", "recordedAt": "ts?", "isDeleted": "b", "deletedAt": "ts?", "deletedBy": "s", "path": "s",
		"metadata": "o",
	}
	roomParticipantFields = resource{"type": "s", "userId": "s", "userInternalId": "id", "canManageProductTags": "b"}
	roomAggregate         = []string{"rooms", "users", "files"}
)

func newRoom(t *testing.T, c *apptest.Client, more ...object) object {
	t.Helper()
	return requireRoom(t, c.Do(t, http.MethodPost, roomsPath, with(object{"title": "Live!"}, more...)))
}

// requireRoom checks an answer with one room and returns the room.
func requireRoom(t *testing.T, r *apptest.Response) object {
	t.Helper()
	a := requireAggregate(t, r, "", roomAggregate)
	room := a.one("rooms")
	a.requireHas("rooms", "users", text(room, "createdBy"))
	for _, item := range room["participants"].([]any) {
		requireResource(t, "participants", roomParticipantFields, item)
		a.requireHas("participants", "users", text(item.(object), "userId"))
	}
	for _, item := range room["recordedPlaybackInfos"].([]any) {
		requireResource(t, "recordedPlaybackInfos", resource{"url": "s", "thumbnailUrl": "s", "playbackId": "s"}, item)
	}
	requireResource(t, "moderation", resource{"flagLabels": "[]", "terminateLabels": "[]", "updatedAt": "ts?"}, room["moderation"])
	return room
}

// sendCredentials returns the token with which a participant sends to a room, and the key in it.
func sendCredentials(t *testing.T, c *apptest.Client, id string) (token object, key string) {
	t.Helper()
	r := c.Do(t, http.MethodGet, roomsPath+"/"+id+"/token", nil).OK(t)
	token = r.JSON(t).(object)
	requireResource(t, "token", resource{"coHostToken": "s", "coHostUrl": "s", "directStreamUrl": "s", "type": "s"}, token)
	if address, err := url.Parse(text(token, "directStreamUrl")); err == nil && address.Query().Has("key") {
		return token, address.Query().Get("key")
	}
	return token, text(token, "coHostToken")
}

func TestRoom(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	host, viewer, media := n.NewUser(t, region.EU, "host"), n.NewUser(t, region.US, "viewer"), mediaServer(n)
	thumbnail := n.File(t, "image", 0)
	room := newRoom(t, host, object{"description": "D", "thumbnailFileId": thumbnail, "metadata": object{"a": "b"}, "liveChatEnabled": false})
	id := text(room, "roomId")
	for field, want := range map[string]any{
		"_id": id, "title": "Live!", "description": "D", "thumbnailFileId": thumbnail, "status": "idle", "type": "directStreaming",
		"liveChatEnabled": false,
		"metadata":        object{"a": "b"}, "createdBy": host.UserID, "creatorInternalId": host.InternalID, "path": n.NetworkID + "/room/" + id,
		"liveAt": nil, "endedAt": nil, "recordedAt": nil, "deletedAt": nil, "referenceType": "", "referenceId": "", "targetType": "",
		"targetId":        "",
		"durationSeconds": 0.0, "parentRoomId": "", "childRoomIds": []any{},
		"participants": []any{object{"type": "host", "userId": host.UserID, "userInternalId": host.InternalID, "canManageProductTags": false}},
	} {
		require.Equal(t, want, room[field], field)
	}
	require.Regexp(t, `^https://play\.test/live/\w{26}\.m3u8$`, room["livePlaybackUrl"])
	require.Regexp(t, `^https://play\.test/live/\w{26}\.jpg$`, room["liveThumbnailUrl"])
	token, key := sendCredentials(t, host.At(region.SG), id)
	require.Regexp(t, `^rtmp://ingest\.test:1935/live/in/\w{26}\?key=\w{26}$`, token["directStreamUrl"])
	require.Equal(t, "directStreaming", token["type"])
	require.Empty(t, token["coHostToken"])
	for _, other := range []*apptest.Client{host, viewer, n.Admin(region.SG)} {
		r := other.Do(t, http.MethodGet, roomsPath+"/"+id, nil)
		require.Equal(t, room, requireRoom(t, r))
		require.NotContains(t, string(r.Body), key)
	}
	room = requireRoom(t, host.Do(t, http.MethodPut, roomsPath+"/"+id, object{"title": "T", "liveChatEnabled": true}))
	require.Equal(t, "T", room["title"])
	require.Equal(t, true, room["liveChatEnabled"])
	require.Equal(t, "D", room["description"], "what is absent stays")

	report := func(event string) object {
		t.Helper()
		return requireRoom(t, media.Do(t, http.MethodPost, mediaRoomsPath+id+"/events", roomReport(event, key)))
	}
	require.NotNil(t, report("started")["liveAt"])
	liveAt := report("interrupted")["liveAt"]
	require.Equal(t, liveAt, report("started")["liveAt"], "it went live once")
	nextMillisecond()
	room = requireRoom(t, host.Do(t, http.MethodPost, roomsPath+"/"+id+"/stop", nil))
	require.Equal(t, "ended", room["status"])
	require.Positive(t, room["durationSeconds"])
	require.Empty(t, room["livePlaybackUrl"])
	requireFailure(t, failure{status: 400, code: 400000}, host.Do(t, http.MethodGet, roomsPath+"/"+id+"/token", nil))
	room = report("recorded")
	require.NotNil(t, room["recordedAt"])
	require.Equal(t, []any{object{"url": "https://r.test/1.mp4", "thumbnailUrl": "https://r.test/1.jpg", "playbackId": "1"}},
		room["recordedPlaybackInfos"])
	require.Equal(t, []any{"https://r.test/1.mp4"},
		viewer.Do(t, http.MethodGet, roomsPath+"/"+id+"/recorded", nil).OK(t).List(t, "recordedUrls"))

	require.True(t, host.Do(t, http.MethodDelete, roomsPath+"/"+id, nil).OK(t).Bool(t, "success"))
	requireAttempts(t, []attempt{
		{"get", host, http.MethodGet, roomsPath + "/" + id, nil, notFound},
		{"delete again", host, http.MethodDelete, roomsPath + "/" + id, nil, notFound},
		{"report", media, http.MethodPost, mediaRoomsPath + id + "/events", object{"event": "failed"}, notFound},
	})
	r := n.Admin(region.EU).Do(t, http.MethodGet, roomsPath+"?isDeleted=true", nil)
	gone := requireAggregate(t, r, "", roomAggregate).one("rooms")
	require.Equal(t, host.UserID, gone["deletedBy"])
	require.NotNil(t, gone["deletedAt"])
	require.Empty(t, gone["recordedPlaybackInfos"])
}

func roomReport(event, key string) object {
	return object{
		"event": event, "streamKey": key, "recordings": []object{{"url": "https://r.test/1.mp4", "thumbnailUrl": "https://r.test/1.jpg"}},
		"labels": []object{{"category": "violence", "threshold": 0.9, "detectedAt": "2026-01-02T03:04:05.678Z"}},
	}
}

// roomInState creates a room in a state and returns its id and the host's key.
func roomInState(t *testing.T, host, media *apptest.Client, state string) (id, key string) {
	t.Helper()
	id = text(newRoom(t, host), "roomId")
	_, key = sendCredentials(t, host, id)
	for _, event := range map[string][]string{
		"idle": {}, "live": {"started"}, "waitingReconnect": {"started", "interrupted"}, "ended": {"started", "stopped"},
		"recorded": {"started", "stopped", "recorded"}, "terminated": {"terminated"}, "error": {"failed"},
	}[state] {
		media.Do(t, http.MethodPost, mediaRoomsPath+id+"/events", roomReport(event, key)).OK(t)
	}
	return id, key
}

// TestRoomTransitions sends every event to a room in every state. The events are those of the first row; - means
// that the event is refused.
func TestRoomTransitions(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	host, media := n.NewUser(t, region.SG, "host"), mediaServer(n)
	rows := [][]string{
		{"", "started", "interrupted", "stopped", "recorded", "failed", "terminated", "flagged", "stop"},
		{"idle", "live", "-", "-", "-", "error", "terminated", "idle", "ended"},
		{"live", "live", "waitingReconnect", "ended", "-", "error", "terminated", "live", "ended"},
		{"waitingReconnect", "live", "waitingReconnect", "ended", "-", "error", "terminated", "waitingReconnect", "ended"},
		{"ended", "-", "-", "ended", "recorded", "-", "-", "ended", "ended"},
		{"recorded", "-", "-", "recorded", "recorded", "-", "-", "recorded", "recorded"},
		{"terminated", "-", "-", "-", "-", "-", "terminated", "terminated", "-"},
		{"error", "-", "-", "-", "-", "error", "-", "error", "-"},
	}
	for _, row := range rows[1:] {
		for i, event := range rows[0][1:] {
			state, want := row[0], row[i+1]
			t.Run(state+" "+event, func(t *testing.T) {
				id, key := roomInState(t, host, media, state)
				var r *apptest.Response
				if event == "stop" {
					r = host.Do(t, http.MethodPost, roomsPath+"/"+id+"/stop", nil)
				} else {
					r = media.Do(t, http.MethodPost, mediaRoomsPath+id+"/events", roomReport(event, key))
				}
				if want == "-" {
					requireFailure(t, failure{status: 400, code: 400000}, r)
					want = state
				} else {
					require.Equal(t, want, requireRoom(t, r)["status"])
				}
				require.Equal(t, want, requireRoom(t, host.Do(t, http.MethodGet, roomsPath+"/"+id, nil))["status"])
			})
		}
	}
}

func TestRoomModeration(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	host, media := n.NewUser(t, region.US, "host"), mediaServer(n)
	id, key := roomInState(t, host, media, "live")
	labels := []object{
		{"category": "violence", "threshold": 0.9, "detectedAt": "2026-01-02T03:04:05.678Z"},
		{"category": "hate", "threshold": 0.8, "detectedAt": "2026-01-02T03:04:06.789Z"},
	}
	report := func(event string) object {
		t.Helper()
		return requireRoom(t, media.Do(t, http.MethodPost, mediaRoomsPath+id+"/events", with(roomReport(event, key), object{"labels": labels})))
	}
	for range 2 {
		seen := report("flagged")["moderation"].(object)
		require.Equal(t, []any{labels[0], labels[1]}, seen["flagLabels"], "the same report again changes nothing")
		require.Empty(t, seen["terminateLabels"])
		require.NotNil(t, seen["updatedAt"])
	}
	seen := report("terminated")
	require.Equal(t, []any{labels[0], labels[1]}, seen["moderation"].(object)["terminateLabels"])
	require.Equal(t, "terminated", seen["status"])
	require.NotNil(t, seen["endedAt"])
}

func TestRoomCoHosts(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	host, guest, other, media := n.NewUser(t, region.EU, "host"), n.NewUser(t, region.US, "guest"), n.NewUser(t, region.SG, "other"),
		mediaServer(n)
	coHosts := object{"type": "coHosts", "participants": []string{guest.UserID}}
	room := newRoom(t, host, coHosts)
	id := text(room, "roomId")
	require.Equal(t, "coHosts", room["type"])
	require.Equal(t, []any{
		object{"type": "host", "userId": host.UserID, "userInternalId": host.InternalID, "canManageProductTags": false},
		object{"type": "coHost", "userId": guest.UserID, "userInternalId": guest.InternalID, "canManageProductTags": false},
	}, room["participants"])
	hosts, hostKey := sendCredentials(t, host, id)
	guests, guestKey := sendCredentials(t, guest, id)
	require.Len(t, guestKey, 26)
	require.NotEqual(t, hostKey, guestKey)
	require.Regexp(t, `^rtmp://ingest\.test:1935/live/in/\w{26}$`, guests["coHostUrl"])
	require.Equal(t, hosts["coHostUrl"], guests["coHostUrl"])
	require.Empty(t, guests["directStreamUrl"])
	requireRoom(t, media.Do(t, http.MethodPost, mediaRoomsPath+id+"/events", roomReport("started", guestKey)))

	participants := roomsPath + "/" + id + "/participants/"
	room = requireRoom(t, host.Do(t, http.MethodPut, participants+guest.UserID, object{"canManageProductTags": true}))
	require.Equal(t, true, room["participants"].([]any)[1].(object)["canManageProductTags"])
	requireAttempts(t, []attempt{
		{"changed by the co-host", guest, http.MethodPut, participants + guest.UserID, object{}, forbidden},
		{"another user", host, http.MethodPut, participants + other.UserID, object{}, notFound},
		{"unknown user", host, http.MethodDelete, participants + "nobody", nil, notFound},
		{"removed by another", other, http.MethodDelete, participants + guest.UserID, nil, forbidden},
		{"the host removed", host, http.MethodDelete, participants + host.UserID, nil, failure{status: 400, code: 400000}},
		{"the host leaves", host, http.MethodPost, roomsPath + "/" + id + "/leave", nil, failure{status: 400, code: 400000}},
		{"another's token", other, http.MethodGet, roomsPath + "/" + id + "/token", nil, forbidden},
	})
	require.Len(t, requireRoom(t, other.Do(t, http.MethodPost, roomsPath+"/"+id+"/leave", nil))["participants"], 2,
		"who is not in cannot leave")
	require.Len(t, requireRoom(t, guest.Do(t, http.MethodPost, roomsPath+"/"+id+"/leave", nil))["participants"], 1)
	requireFailure(t, failure{status: 403, code: 400300}, guest.Do(t, http.MethodGet, roomsPath+"/"+id+"/token", nil))
	requireFailure(t, failure{status: 403, code: 400300},
		media.Do(t, http.MethodPost, mediaRoomsPath+id+"/events", roomReport("started", guestKey)))
	second := text(newRoom(t, host, coHosts), "roomId")
	require.Len(t, requireRoom(t, host.Do(t, http.MethodDelete, roomsPath+"/"+second+"/participants/"+guest.UserID, nil))["participants"], 1)
}

func TestChildRooms(t *testing.T) {
	t.Parallel()
	host, other := newUser(t, region.SG, "host"), newUser(t, region.EU, "other")
	parent := text(newRoom(t, host), "roomId")
	child := newRoom(t, host.At(region.US), object{"parentRoomId": parent})
	require.Equal(t, parent, child["parentRoomId"])
	require.Equal(t, []any{child["roomId"]}, requireRoom(t, host.Do(t, http.MethodGet, roomsPath+"/"+parent, nil))["childRoomIds"])
	refused := failure{status: 400, code: 400000}
	requireAttempts(t, []attempt{
		{"of another user's", other, http.MethodPost, roomsPath, object{"title": "x", "parentRoomId": parent}, refused},
		{"of a child", host, http.MethodPost, roomsPath, object{"title": "x", "parentRoomId": child["roomId"]}, refused},
		{"of none", host, http.MethodPost, roomsPath, object{"title": "x", "parentRoomId": unknownID}, refused},
		{"of no id", host, http.MethodPost, roomsPath, object{"title": "x", "parentRoomId": "x"}, refused},
	})
	host.Do(t, http.MethodDelete, roomsPath+"/"+text(child, "roomId"), nil).OK(t)
	require.Empty(t, requireRoom(t, host.Do(t, http.MethodGet, roomsPath+"/"+parent, nil))["childRoomIds"])
}

// TestPostWithRoom posts rooms in a region that is not their host's home, and finds them in every aggregate and in
// the list of live rooms.
func TestPostWithRoom(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	owner, author, viewer := n.NewUser(t, region.US, "owner"), n.NewUser(t, region.EU, "author"), n.NewUser(t, region.SG, "viewer")
	media, stranger, guest := mediaServer(n), n.NewUser(t, region.EU, "stranger"), n.NewUser(t, region.EU, "guest")
	community := newCommunity(t, owner, object{"isPublic": false, "isDiscoverable": true})
	owner.Do(t, http.MethodPost, membersPath(community), object{"userIds": []string{author.UserID, viewer.UserID}}).OK(t)
	id := text(newRoom(t, author, object{"type": "coHosts", "participants": []string{guest.UserID}}), "roomId")
	child := text(newRoom(t, author, object{"parentRoomId": id}), "roomId")
	body := object{"targetType": "community", "targetId": community, "dataType": "room", "data": object{"text": "come in!", "roomId": id}}
	a := requireAggregate(t, author.At(region.SG).Do(t, http.MethodPost, "/api/v4/posts", body), "", postAggregate)
	require.Equal(t, id, a.one("rooms")["roomId"])
	require.Equal(t, child, a.one("roomChildrens")["roomId"])
	require.Equal(t, "room", a.one("posts")["structureType"])
	require.Equal(t, "room", a.one("postChildren")["dataType"])
	require.Equal(t, object{"roomId": id}, a.one("postChildren")["data"])
	postID := text(a.one("posts"), "postId")
	require.Eventually(t, func() bool {
		room := requireRoom(t, author.Do(t, http.MethodGet, roomsPath+"/"+id, nil))
		return room["referenceType"] == "post" && room["referenceId"] == postID && room["targetType"] == "community" &&
			room["targetId"] == community
	}, apptest.Patience, 20*time.Millisecond)
	for _, path := range []string{
		"/api/v3/posts/" + postID, "/api/v5/posts?targetId=" + community,
		"/api/v5/posts?targetId=" + community + "&dataTypes[]=room",
	} {
		r := viewer.Do(t, http.MethodGet, path, nil).OK(t)
		require.Equal(t, []string{id}, r.Strings(t, "rooms", "roomId"), path)
		require.Equal(t, []string{child}, r.Strings(t, "roomChildrens", "roomId"), path)
	}
	onWall := text(newRoom(t, author), "roomId")
	author.Do(t, http.MethodPost, "/api/v4/posts", object{"targetType": "user", "dataType": "room", "data": object{"roomId": onWall}}).OK(t)
	lives := func(c *apptest.Client, query string) []string {
		t.Helper()
		r := c.Do(t, http.MethodGet, roomsPath+"/lives?options[limit]=100&options[sortBy]=lastCreated"+query, nil)
		a := requireAggregate(t, r, "", []string{
			"rooms", "roomChildrens", "posts", "postChildren", "comments", "users", "files", "communities",
			"communityUsers", "categories", "feeds",
		})
		require.Len(t, a.lists["posts"], len(a.lists["rooms"]))
		for _, room := range a.lists["rooms"] {
			a.requireHas("rooms", "posts", text(room, "referenceId"))
			a.requireHas("rooms", "users", text(room, "createdBy"))
		}
		return a.values("rooms", "roomId")
	}
	require.Empty(t, lives(viewer, ""), "before a host sends")
	for _, room := range []string{id, onWall, child} {
		_, key := sendCredentials(t, author, room)
		media.Do(t, http.MethodPost, mediaRoomsPath+room+"/events", roomReport("started", key)).OK(t)
	}
	require.Equal(t, []string{onWall, id}, lives(viewer, ""))
	require.Equal(t, []string{onWall, id}, lives(viewer, "&targetTypes[]=all"))
	require.Equal(t, []string{id}, lives(viewer, "&targetTypes[]=community"))
	require.Equal(t, []string{id}, lives(viewer, "&targetTypes[]=community&targetIds[]="+community))
	require.Empty(t, lives(viewer, "&targetTypes[]=community&targetIds[]="+unknownID))
	require.Empty(t, lives(viewer, "&targetTypes[]=community&targetIds[]=x"))
	require.Equal(t, []string{onWall}, lives(stranger, ""))
	requireFailure(t, invalid("targetTypes"), viewer.Do(t, http.MethodGet, roomsPath+"/lives?targetTypes[]=user", nil))

	posting := func(roomID string) object {
		return object{"targetType": "user", "dataType": "room", "data": object{"roomId": roomID}}
	}
	refused := failure{status: 400, code: 400000}
	requireAttempts(t, []attempt{
		{"seen by a member", viewer, http.MethodGet, roomsPath + "/" + id, nil, failure{}},
		{"seen by a co-host", guest, http.MethodGet, roomsPath + "/" + id, nil, failure{}},
		{"seen by a stranger", stranger, http.MethodGet, roomsPath + "/" + id, nil, notFound},
		{"recordings for a stranger", stranger, http.MethodGet, roomsPath + "/" + id + "/recorded", nil, notFound},
		{"stopped by a member", viewer, http.MethodPost, roomsPath + "/" + id + "/stop", nil, forbidden},
		{"posted again", author, http.MethodPost, "/api/v4/posts", posting(id), refused},
		{"posted by another user", owner, http.MethodPost, "/api/v4/posts", posting(text(newRoom(t, author), "roomId")), refused},
		{"an unknown room", author, http.MethodPost, "/api/v4/posts", posting(unknownID), refused},
		{"no room", author, http.MethodPost, "/api/v4/posts", posting("x"), invalid("data.roomId")},
	})
	author.Do(t, http.MethodDelete, roomsPath+"/"+id, nil).OK(t)
	require.Empty(t, author.Do(t, http.MethodGet, "/api/v3/posts/"+postID, nil).OK(t).List(t, "rooms"))
}

func TestRoomList(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	media, viewer, admin := mediaServer(n), n.NewUser(t, region.EU, "viewer"), n.Admin(region.SG)
	hosts := []*apptest.Client{n.NewUser(t, region.US, "host"), n.NewUser(t, region.EU, "host"), n.NewUser(t, region.SG, "host")}
	var ids []string
	for i := range 6 {
		state := []string{"live", "idle", "ended"}[i/2]
		nextMillisecond()
		id, _ := roomInState(t, hosts[i%3], media, state)
		ids = append(ids, id)
	}
	nextMillisecond()
	ids = append(ids, text(newRoom(t, hosts[0], object{"type": "coHosts", "participants": []string{viewer.UserID}}), "roomId"))
	list := func(c *apptest.Client, query string) []string {
		t.Helper()
		r := c.Do(t, http.MethodGet, roomsPath+"?"+query, nil)
		requireAggregate(t, r, "", roomAggregate)
		return r.Strings(t, "rooms", "roomId")
	}
	require.Equal(t, []string{ids[6], ids[5], ids[4], ids[3], ids[2], ids[1], ids[0]}, list(admin, ""))
	require.Equal(t, ids, list(admin, "sortBy=firstCreated"))
	require.Equal(t, []string{ids[5], ids[4], ids[1], ids[0]}, list(admin, "statuses[]=live&statuses[]=ended"))
	require.Equal(t, []string{ids[6]}, list(admin, "type=coHosts"))
	require.Equal(t, []string{ids[6]}, list(viewer, ""), "those one takes part in")
	require.Equal(t, []string{ids[6], ids[3], ids[0]}, list(hosts[0], ""))
	hosts[1].Do(t, http.MethodPost, "/api/v4/posts", object{"targetType": "user", "dataType": "room", "data": object{"roomId": ids[1]}}).OK(t)
	require.Equal(t, []string{ids[6], ids[1]}, list(viewer, ""))
	r := admin.Do(t, http.MethodGet, roomsPath+"?options[limit]=4", nil).OK(t)
	next := admin.Do(t, http.MethodGet, roomsPath+"?options[token]="+url.QueryEscape(r.String(t, "paging.next")), nil).OK(t)
	require.Equal(t, []string{ids[2], ids[1], ids[0]}, next.Strings(t, "rooms", "roomId"))
	require.Empty(t, next.String(t, "paging.next"))
	require.NotEmpty(t, next.String(t, "paging.previous"))
	require.Equal(t, []string{ids[5], ids[4], ids[3], ids[2], ids[1], ids[0]}, list(admin, "type=directStreaming"))
	hosts[0].Do(t, http.MethodDelete, roomsPath+"/"+ids[6], nil).OK(t)
	for _, query := range []string{"", "isDeleted=false"} {
		require.Equal(t, []string{ids[5], ids[4], ids[3], ids[2], ids[1], ids[0]}, list(admin, query))
	}
	require.Equal(t, []string{ids[6]}, list(admin, "isDeleted=true"))
}

// TestRoomDefaults creates rooms without a type and with each of the two fields that ask for a channel.
func TestRoomDefaults(t *testing.T) {
	t.Parallel()
	host := newUser(t, region.EU, "host")
	require.Subset(t, newRoom(t, host), object{"type": "directStreaming", "liveChatEnabled": true, "description": "", "thumbnailFileId": ""})
	for _, c := range []struct {
		fields object
		want   bool
	}{
		{object{"channelEnabled": false}, false},
		{object{"channelEnabled": true}, true},
		{object{"liveChatEnabled": false, "channelEnabled": true}, false},
		{object{"liveChatEnabled": true, "channelEnabled": false}, true},
	} {
		require.Equal(t, c.want, newRoom(t, host, c.fields)["liveChatEnabled"], c.fields)
	}
}

func TestRoomRefusals(t *testing.T) {
	t.Parallel()
	host, other := newUser(t, region.EU, "host"), newUser(t, region.US, "other")
	id := text(newRoom(t, host), "roomId")
	path := roomsPath + "/" + id
	token, _ := sendCredentials(t, host, id)
	require.Empty(t, token["directStreamUrl"], "no media server, no address")
	create := func(more object) object { return with(object{"title": "x"}, more) }
	long := strings.Repeat("x", 5001)
	requireAttempts(t, []attempt{
		{"title of 1000", host, http.MethodPost, roomsPath, object{"title": long[:1000]}, failure{}},
		{"title of 1001", host, http.MethodPost, roomsPath, object{"title": long[:1001]}, invalid("title")},
		{"no title", host, http.MethodPost, roomsPath, object{}, invalid("title")},
		{"description of 5000", host, http.MethodPost, roomsPath, create(object{"description": long[:5000]}), failure{}},
		{"description of 5001", host, http.MethodPost, roomsPath, create(object{"description": long}), invalid("description")},
		{"thumbnail of 51", host, http.MethodPost, roomsPath, create(object{"thumbnailFileId": long[:51]}), invalid("thumbnailFileId")},
		{"type", host, http.MethodPost, roomsPath, create(object{"type": "x"}), invalid("type")},
		{
			"participants of directStreaming", host, http.MethodPost, roomsPath, create(object{"participants": []string{other.UserID}}),
			invalid("participants"),
		},
		{
			"two co-hosts", host, http.MethodPost, roomsPath, create(object{"type": "coHosts", "participants": []string{other.UserID, "x"}}),
			invalid("participants"),
		},
		{
			"an unknown co-host", host, http.MethodPost, roomsPath, create(object{"type": "coHosts", "participants": []string{"unknown user"}}),
			notFound,
		},
		{
			"oneself as co-host", host, http.MethodPost, roomsPath, create(object{"type": "coHosts", "participants": []string{host.UserID}}),
			invalid("participants"),
		},
		{
			"metadata of more than 10 KB", host, http.MethodPost, roomsPath, create(object{"metadata": object{"a": strings.Repeat("x", 10*1024)}}),
			invalid("metadata"),
		},
		{"by an administrator", admin(t), http.MethodPost, roomsPath, create(nil), forbidden},
		{"unknown", host, http.MethodGet, roomsPath + "/" + unknownID, nil, notFound},
		{"no id", host, http.MethodGet, roomsPath + "/x", nil, notFound},
		{"changed by another", other, http.MethodPut, path, object{"title": "y"}, forbidden},
		{"deleted by another", other, http.MethodDelete, path, nil, forbidden},
		{"stopped by another", other, http.MethodPost, path + "/stop", nil, forbidden},
		{"a status", host, http.MethodGet, roomsPath + "?statuses[]=x", nil, invalid("statuses")},
		{"the order", host, http.MethodGet, roomsPath + "?sortBy=name", nil, invalid("sortBy")},
		{"deleted ones", host, http.MethodGet, roomsPath + "?isDeleted=true", nil, forbidden},
		{
			"reported without a secret", host, http.MethodPost, mediaRoomsPath + id + "/events",
			object{"event": "failed"},
			failure{status: 401, code: 400100},
		},
	})
}
