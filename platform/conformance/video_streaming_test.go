package conformance

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	streamsPath      = "/api/v3/video-streaming"
	mediaStreamsPath = "/api/v1/media-server/video-streaming/"
	mediaSecret      = "the media server's secret"
)

var (
	streamFields = resource{
		"streamId": "id", "userId": "s", "userInternalId": "id", "userPublicId": "s", "thumbnailFileId": "s", "title": "s", "status": "s",
		"isLive": "b", "isDeleted": "b", "description": "s", "platform": "o", "moderationId": "s", "startedAt": "ts?", "endedAt": "ts?",
		"createdAt": "ts", "updatedAt": "ts", "metadata": "o", "resolution": "s", "streamerUrl": "o?", "recordings": "[]",
		"watcherUrl": "o?", "postId": "s", "channelId": "s", "channelEnabled": "b", "isParent": "b", "parentStreamId": "s",
		"childStreamIds": "s[]",
	}
	streamURLFields       = resource{"origin": "s", "appName": "s", "streamName": "s", "query": "s"}
	recordingFileFields   = resource{"url": "s", "duration": "n", "startTime": "n", "stopTime": "n"}
	moderationLabelFields = resource{"category": "s", "threshold": "n", "detectedAt": "ts"}
	streamAggregate       = []string{"videoStreamings", "videoStreamModerations", "users", "files"}
)

// mediaNetwork returns a network with a media server.
func mediaNetwork(t *testing.T) *apptest.Network {
	t.Helper()
	return apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) {
		cfg.MediaKey = mediaSecret
		cfg.MediaIngestURL, cfg.MediaPlaybackURL = "rtmp://ingest.test:1935/live/in", "https://play.test/live"
	}))
}

// mediaServer returns a client that reports as the media server of a network does.
func mediaServer(n *apptest.Network) *apptest.Client {
	return n.Anonymous(region.SG).With("x-media-key", mediaSecret)
}

func newStream(t *testing.T, c *apptest.Client, more ...object) object {
	t.Helper()
	return requireStream(t, c.Do(t, http.MethodPost, streamsPath, with(object{"title": "Live!"}, more...)))
}

// requireStream checks an answer with one stream and returns the stream.
func requireStream(t *testing.T, r *apptest.Response) object {
	t.Helper()
	a := requireAggregate(t, r, "", streamAggregate)
	stream := a.one("videoStreamings")
	a.requireHas("videoStreamings", "users", text(stream, "userId"))
	requireResource(t, "platform", resource{"name": "s", "version": "s"}, stream["platform"])
	for _, item := range stream["recordings"].([]any) {
		for _, format := range []string{"flv", "mp4", "m3u8"} {
			if file := item.(object)[format]; file != nil {
				requireResource(t, "recordings."+format, recordingFileFields, file)
			}
		}
	}
	return stream
}

// streamKey returns the key in the address to which a streamer sends.
func streamKey(t *testing.T, stream object) string {
	t.Helper()
	address, ok := stream["streamerUrl"].(object)
	require.True(t, ok, "a streamer's own stream says where to send it")
	query, err := url.ParseQuery(text(address["components"].(object), "query"))
	require.NoError(t, err)
	require.Len(t, query.Get("key"), 26)
	return query.Get("key")
}

func TestVideoStream(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	owner, viewer, media := n.NewUser(t, region.EU, "owner"), n.NewUser(t, region.US, "viewer"), mediaServer(n)
	thumbnail := n.File(t, "image", 0)
	s := newStream(t, owner, object{
		"description": "D", "thumbnailFileId": thumbnail, "metadata": object{"a": "b"}, "resolution": "FHD", "isSecure": true,
		"channelEnabled": false, "platform": object{"name": "web", "version": "1"},
	})
	id := text(s, "streamId")
	for field, want := range map[string]any{
		"title": "Live!", "description": "D", "thumbnailFileId": thumbnail, "status": "idle", "isLive": false, "resolution": "FHD",
		"channelEnabled": false,
		"metadata":       object{"a": "b"}, "platform": object{"name": "web", "version": "1"}, "userPublicId": owner.UserID,
		"userInternalId": owner.InternalID,
		"startedAt":      nil, "endedAt": nil, "postId": "", "isParent": false, "parentStreamId": "", "moderationId": "",
	} {
		require.Equal(t, want, s[field], field)
	}
	key := streamKey(t, s)
	sent := s["streamerUrl"].(object)
	components := sent["components"].(object)
	requireResource(t, "streamerUrl.components", streamURLFields, components)
	require.Equal(t, "rtmps://ingest.test:1935", components["origin"])
	require.Equal(t, "live/in", components["appName"])
	require.Regexp(t, `^\w{26}$`, components["streamName"])
	require.Equal(t, "rtmps://ingest.test:1935/live/in/"+text(components, "streamName")+"?"+text(components, "query"), sent["url"])
	watched := s["watcherUrl"].(object)
	for format, want := range map[string]string{
		"hls":  "https://play.test/live/" + text(components, "streamName") + ".m3u8",
		"flv":  "https://play.test/live/" + text(components, "streamName") + ".flv",
		"rtmp": "rtmp://ingest.test:1935/live/in/" + text(components, "streamName"),
	} {
		require.Equal(t, want, watched[format].(object)["url"], format)
		requireResource(t, format, streamURLFields, watched[format].(object)["components"])
	}

	for name, other := range map[string]*apptest.Client{"viewer": viewer, "administrator": n.Admin(region.SG)} {
		r := other.Do(t, http.MethodGet, streamsPath+"/"+id, nil)
		require.Nil(t, requireStream(t, r)["streamerUrl"], name)
		require.NotContains(t, string(r.Body), key, name)
	}
	require.Equal(t, sent, requireStream(t, owner.At(region.SG).Do(t, http.MethodGet, streamsPath+"/"+id, nil))["streamerUrl"])

	s = requireStream(t, owner.Do(t, http.MethodPut, streamsPath+"/"+id, object{"title": "T", "resolution": "HD", "metadata": object{}}))
	require.Equal(t, "T", s["title"])
	require.Equal(t, "D", s["description"], "what is absent stays")
	require.Equal(t, "HD", s["resolution"])
	require.Equal(t, object{}, s["metadata"])

	r := media.Do(t, http.MethodPost, mediaStreamsPath+id+"/events",
		object{"event": "started", "streamKey": key, "platform": object{"name": "obs", "version": "30"}})
	require.NotContains(t, string(r.Body), key, "the media server knows the key that it was given")
	s = requireStream(t, r)
	require.Equal(t, "live", s["status"])
	require.Equal(t, true, s["isLive"])
	require.Equal(t, object{"name": "obs", "version": "30"}, s["platform"])
	require.NotNil(t, s["startedAt"])
	require.NotNil(t, requireStream(t, owner.Do(t, http.MethodGet, streamsPath+"/"+id, nil))["streamerUrl"], "to come back after a loss")
	s = requireStream(t, owner.Do(t, http.MethodDelete, streamsPath+"/"+id+"/streaming-url", nil))
	require.Equal(t, "ended", s["status"])
	require.NotNil(t, s["endedAt"])
	require.Nil(t, s["streamerUrl"])
	recordings := []object{
		{"mp4": object{"url": "https://r.test/1.mp4", "duration": 1.5, "startTime": 10, "stopTime": 11.5}},
		{"mp4": object{"url": "https://r.test/2.mp4"}},
	}
	s = requireStream(t, media.Do(t, http.MethodPost, mediaStreamsPath+id+"/events", object{"event": "recorded", "recordings": recordings}))
	require.Equal(t, "recorded", s["status"])
	recorded := s["recordings"].([]any)[0].(object)
	require.Equal(t, "https://r.test/2.mp4", s["recordings"].([]any)[1].(object)["mp4"].(object)["url"])
	require.Equal(t, object{"url": "https://r.test/1.mp4", "duration": 1.5, "startTime": 10.0, "stopTime": 11.5}, recorded["mp4"])
	require.Nil(t, recorded["flv"])

	deleted := owner.Do(t, http.MethodDelete, streamsPath+"/"+id, nil).OK(t)
	require.Equal(t, "success", deleted.String(t, "status"))
	require.True(t, deleted.Bool(t, "data.success"))
	requireAttempts(t, []attempt{
		{"get", owner, http.MethodGet, streamsPath + "/" + id, nil, notFound},
		{"delete again", owner, http.MethodDelete, streamsPath + "/" + id, nil, notFound},
		{"report", media, http.MethodPost, mediaStreamsPath + id + "/events", object{"event": "failed"}, notFound},
	})
}

// streamInState creates a stream in a state and returns its id and key.
func streamInState(t *testing.T, owner, media *apptest.Client, state string) (id, key string) {
	t.Helper()
	s := newStream(t, owner)
	id, key = text(s, "streamId"), streamKey(t, s)
	for _, event := range map[string][]string{
		"idle": {}, "live": {"started"}, "ended": {"started", "stopped"}, "recorded": {"started", "stopped", "recorded"}, "error": {"failed"},
	}[state] {
		media.Do(t, http.MethodPost, mediaStreamsPath+id+"/events", streamReport(event, key)).OK(t)
	}
	return id, key
}

func streamReport(event, key string) object {
	return object{
		"event": event, "streamKey": key, "recordings": []object{{"m3u8": object{"url": "https://r.test/1.m3u8"}}},
		"labels": []object{{"category": "violence", "threshold": 0.9}},
	}
}

// TestVideoStreamTransitions sends every event to a stream in every state. An empty state means that the event is
// refused.
func TestVideoStreamTransitions(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	owner, media := n.NewUser(t, region.US, "owner"), mediaServer(n)
	for state, events := range map[string]map[string]string{
		"idle": {
			"started": "live", "stopped": "", "recorded": "", "failed": "error", "terminated": "ended", "flagged": "idle",
			"end": "ended",
		},
		"live": {
			"started": "live", "stopped": "ended", "recorded": "", "failed": "error", "terminated": "ended", "flagged": "live",
			"end": "ended",
		},
		"ended": {
			"started": "", "stopped": "ended", "recorded": "recorded", "failed": "", "terminated": "ended", "flagged": "ended",
			"end": "ended",
		},
		"recorded": {
			"started": "", "stopped": "recorded", "recorded": "recorded", "failed": "", "terminated": "recorded",
			"flagged": "recorded", "end": "recorded",
		},
		"error": {"started": "", "stopped": "", "recorded": "", "failed": "error", "terminated": "", "flagged": "error", "end": ""},
	} {
		for event, want := range events {
			t.Run(state+" "+event, func(t *testing.T) {
				id, key := streamInState(t, owner, media, state)
				var r *apptest.Response
				if event == "end" {
					r = owner.Do(t, http.MethodDelete, streamsPath+"/"+id+"/streaming-url", nil)
				} else {
					r = media.Do(t, http.MethodPost, mediaStreamsPath+id+"/events", streamReport(event, key))
				}
				if want == "" {
					requireFailure(t, failure{status: 400, code: 400000}, r)
					want = state
				} else {
					require.Equal(t, want, requireStream(t, r)["status"])
				}
				s := requireStream(t, owner.Do(t, http.MethodGet, streamsPath+"/"+id, nil))
				require.Equal(t, want, s["status"])
				require.Equal(t, want != "idle" && want != "live", s["endedAt"] != nil, "it has an end once it ended or failed")
			})
		}
	}
}

func TestVideoStreamModeration(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	owner, media := n.NewUser(t, region.EU, "owner"), mediaServer(n)
	id, _ := streamInState(t, owner, media, "live")
	labels := []object{
		{"category": "violence", "threshold": 0.5, "detectedAt": "2026-01-02T03:04:05.678Z"},
		{"category": "hate", "threshold": 0.75, "detectedAt": "2026-01-02T03:04:06.789Z"},
	}
	seen := object{"event": "flagged", "labels": labels}
	media.Do(t, http.MethodPost, mediaStreamsPath+id+"/events", seen).OK(t)
	media.Do(t, http.MethodPost, mediaStreamsPath+id+"/events", seen).OK(t)
	terminated := object{
		"event":  "terminated",
		"labels": []object{{"category": "pornography", "threshold": 1}, {"category": "gore", "threshold": 1}},
	}
	for range 2 {
		r := media.Do(t, http.MethodPost, mediaStreamsPath+id+"/events", terminated)
		require.Equal(t, "ended", requireStream(t, r)["status"])
		found := r.Get(t, "videoStreamModerations.0").(object)
		requireResource(t, "moderation", resource{
			"moderationId": "id", "streamId": "id", "flagLabels": "[]", "terminateLabels": "[]",
			"createdAt": "ts", "updatedAt": "ts",
		}, found)
		require.Equal(t, r.String(t, "videoStreamings.0.moderationId"), found["moderationId"])
		require.Equal(t, []any{labels[0], labels[1]}, found["flagLabels"])
		require.Len(t, found["terminateLabels"], 2)
		requireResource(t, "label", moderationLabelFields, found["terminateLabels"].([]any)[0])
	}
}

// TestMediaServerSecret checks that reports without the secret are refused, and that all reports are refused if no
// secret is configured.
func TestMediaServerSecret(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	owner := n.NewUser(t, region.EU, "owner")
	s := newStream(t, owner)
	path, report := mediaStreamsPath+text(s, "streamId")+"/events", streamReport("started", streamKey(t, s))
	refused := failure{status: 401, code: 400100}
	bare := newUser(t, region.EU, "owner")
	bareStream := newStream(t, bare)
	require.Nil(t, bareStream["streamerUrl"], "no media server, no address")
	require.Nil(t, bareStream["watcherUrl"])
	barePath := mediaStreamsPath + text(bareStream, "streamId") + "/events"
	requireAttempts(t, []attempt{
		{"without", n.Anonymous(region.EU), http.MethodPost, path, report, refused},
		{"wrong", n.Anonymous(region.EU).With("x-media-key", mediaSecret+"x"), http.MethodPost, path, report, refused},
		{"the beginning", n.Anonymous(region.EU).With("x-media-key", mediaSecret[:5]), http.MethodPost, path, report, refused},
		{"the owner", owner, http.MethodPost, path, report, refused},
		{"an administrator", n.Admin(region.EU), http.MethodPost, path, report, refused},
		{"a server key", n.Anonymous(region.EU).With("x-server-key", n.ServerKey), http.MethodPost, path, report, refused},
		{"a key of no stream", mediaServer(n), http.MethodPost, path, with(report, object{"streamKey": "x"}), failure{status: 403, code: 400300}},
		{"without a key of a stream", mediaServer(n), http.MethodPost, path, object{"event": "started"}, failure{status: 403, code: 400300}},
		{"none configured", apptest.Shared(t).Anonymous(region.EU).With("x-media-key", mediaSecret), http.MethodPost, barePath, report, refused},
		{"an unknown stream", mediaServer(n), http.MethodPost, mediaStreamsPath + unknownID + "/events", report, notFound},
		{"no event", mediaServer(n), http.MethodPost, path, object{}, invalid("event")},
		{"another event", mediaServer(n), http.MethodPost, path, object{"event": "x"}, invalid("event")},
		{"no recordings", mediaServer(n), http.MethodPost, path, object{"event": "recorded"}, invalid("recordings")},
		{
			"a recording without an address", mediaServer(n), http.MethodPost, path,
			object{"event": "recorded", "recordings": []object{{}}},
			invalid("recordings"),
		},
		{
			"21 recordings", mediaServer(n), http.MethodPost, path,
			object{"event": "recorded", "recordings": make([]object, 21)},
			invalid("recordings"),
		},
		{"no labels", mediaServer(n), http.MethodPost, path, object{"event": "flagged"}, invalid("labels")},
	})
	require.Equal(t, "idle", requireStream(t, owner.Do(t, http.MethodGet, streamsPath+"/"+text(s, "streamId"), nil))["status"])
}

// TestChildStreams creates children of a stream up to their limit.
func TestChildStreams(t *testing.T) {
	t.Parallel()
	owner, other := newUser(t, region.SG, "owner"), newUser(t, region.EU, "other")
	parent := text(newStream(t, owner), "streamId")
	var children []any
	for range 20 {
		child := newStream(t, owner.At(region.US), object{"parentStreamId": parent})
		require.Equal(t, parent, child["parentStreamId"])
		children = append(children, child["streamId"])
	}
	first := children[0].(string)
	s := requireStream(t, owner.Do(t, http.MethodGet, streamsPath+"/"+parent, nil))
	require.Equal(t, children, s["childStreamIds"])
	require.Equal(t, true, s["isParent"])
	refused := failure{status: 400, code: 400000}
	requireAttempts(t, []attempt{
		{"the 21st", owner, http.MethodPost, streamsPath, object{"title": "x", "parentStreamId": parent}, refused},
		{"of another user's", other, http.MethodPost, streamsPath, object{"title": "x", "parentStreamId": parent}, refused},
		{"of a child", owner, http.MethodPost, streamsPath, object{"title": "x", "parentStreamId": first}, refused},
		{"of none", owner, http.MethodPost, streamsPath, object{"title": "x", "parentStreamId": unknownID}, refused},
		{"of no id", owner, http.MethodPost, streamsPath, object{"title": "x", "parentStreamId": "x"}, refused},
	})
	owner.Do(t, http.MethodDelete, streamsPath+"/"+first, nil).OK(t)
	require.Equal(t, children[1:], requireStream(t, owner.Do(t, http.MethodGet, streamsPath+"/"+parent, nil))["childStreamIds"])
	newStream(t, owner, object{"parentStreamId": parent})
}

// TestPostWithVideoStream posts streams in a region that is not their creator's home, and reads them in every
// aggregate.
func TestPostWithVideoStream(t *testing.T) {
	t.Parallel()
	owner, author, viewer := newUser(t, region.US, "owner"), newUser(t, region.EU, "author"), newUser(t, region.SG, "viewer")
	community := newCommunity(t, owner, object{"isPublic": false, "isDiscoverable": true})
	owner.Do(t, http.MethodPost, membersPath(community), object{"userIds": []string{author.UserID, viewer.UserID}}).OK(t)
	id := text(newStream(t, author), "streamId")
	child := text(newStream(t, author, object{"parentStreamId": id}), "streamId")
	body := object{
		"targetType": "community", "targetId": community, "dataType": "liveStream",
		"data": object{"text": "watch!", "streamId": id},
	}
	a := requireAggregate(t, author.At(region.SG).Do(t, http.MethodPost, "/api/v4/posts", body), "", postAggregate)
	require.Equal(t, id, a.one("videoStreamings")["streamId"])
	require.Equal(t, child, a.one("videoStreamingChildren")["streamId"])
	require.Equal(t, "liveStream", a.one("posts")["structureType"])
	require.Equal(t, object{"text": "watch!", "streamId": id}, a.one("posts")["data"])
	require.Equal(t, "liveStream", a.one("postChildren")["dataType"])
	require.Equal(t, object{"streamId": id}, a.one("postChildren")["data"])
	postID, childPost := text(a.one("posts"), "postId"), text(a.one("postChildren"), "postId")
	require.Eventually(t, func() bool {
		return requireStream(t, author.Do(t, http.MethodGet, streamsPath+"/"+id, nil))["postId"] == postID
	}, apptest.Patience, 20*time.Millisecond)
	for _, path := range []string{
		"/api/v3/posts/" + postID, "/api/v3/posts/" + childPost, "/api/v3/posts/list?postIds[]=" + postID, "/api/v5/posts?targetId=" + community,
		"/api/v5/posts?targetId=" + community + "&dataTypes[]=liveStream",
		"/api/v5/posts?targetId=" + community + "&dataTypes[]=liveStream&matchingOnlyParentPost=true",
	} {
		r := viewer.Do(t, http.MethodGet, path, nil).OK(t)
		require.Equal(t, []string{id}, r.Strings(t, "videoStreamings", "streamId"), path)
		require.Equal(t, []string{child}, r.Strings(t, "videoStreamingChildren", "streamId"), path)
	}
	owner.Do(t, http.MethodPost, communityPins+community+"/default/"+postID, nil).OK(t)
	require.Equal(t, []string{id}, viewer.Do(t, http.MethodGet, communityPins+community, nil).OK(t).Strings(t, "videoStreamings", "streamId"))

	stranger := newUser(t, region.EU, "stranger")
	posting := func(streamID string) object {
		return object{"targetType": "user", "dataType": "liveStream", "data": object{"streamId": streamID}}
	}
	refused := failure{status: 400, code: 400000}
	deleted := text(newStream(t, author), "streamId")
	author.Do(t, http.MethodDelete, streamsPath+"/"+deleted, nil).OK(t)
	requireAttempts(t, []attempt{
		{"seen by a member", viewer, http.MethodGet, streamsPath + "/" + id, nil, failure{}},
		{"seen by a stranger", stranger, http.MethodGet, streamsPath + "/" + id, nil, notFound},
		{"ended by a stranger", stranger, http.MethodDelete, streamsPath + "/" + id + "/streaming-url", nil, notFound},
		{"ended by a member", viewer, http.MethodDelete, streamsPath + "/" + id + "/streaming-url", nil, failure{status: 403, code: 400300}},
		{"posted again", author, http.MethodPost, "/api/v4/posts", posting(id), refused},
		{"posted by another user", owner, http.MethodPost, "/api/v4/posts", posting(text(newStream(t, author), "streamId")), refused},
		{"posted after it was deleted", author, http.MethodPost, "/api/v4/posts", posting(deleted), refused},
		{"an unknown stream", author, http.MethodPost, "/api/v4/posts", posting(unknownID), refused},
		{"no stream", author, http.MethodPost, "/api/v4/posts", posting("x"), invalid("data.streamId")},
		{
			"with an attachment", author, http.MethodPost, "/api/v4/posts",
			with(posting(child), object{"attachments": []object{{"type": "image", "fileId": "f"}}}), invalid("attachments"),
		},
		{
			"without a text, by the older path", author, http.MethodPost, "/api/v3/posts", posting(text(newStream(t, author), "streamId")),
			failure{},
		},
	})
	author.Do(t, http.MethodDelete, streamsPath+"/"+id, nil).OK(t)
	require.Empty(t, author.Do(t, http.MethodGet, "/api/v3/posts/"+postID, nil).OK(t).List(t, "videoStreamings"))
}

func TestVideoStreamDefaults(t *testing.T) {
	t.Parallel()
	require.Subset(t, newStream(t, newUser(t, region.EU, "owner")), object{
		"resolution": "SD", "channelEnabled": true, "description": "", "thumbnailFileId": "", "metadata": object{}, "status": "idle",
	})
}

func TestVideoStreamList(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	media := mediaServer(n)
	owners := []*apptest.Client{n.NewUser(t, region.US, "owner"), n.NewUser(t, region.EU, "owner"), n.NewUser(t, region.SG, "owner")}
	viewer, admin := n.NewUser(t, region.EU, "viewer"), n.Admin(region.SG)
	var ids []string
	for i := range 6 {
		state := []string{"live", "idle", "ended"}[i/2]
		nextMillisecond()
		id, _ := streamInState(t, owners[i%3], media, state)
		ids = append(ids, id)
	}
	list := func(c *apptest.Client, query string) []string {
		t.Helper()
		r := c.Do(t, http.MethodGet, streamsPath+"?"+query, nil)
		requireAggregate(t, r, "results.", streamAggregate)
		return r.Strings(t, "results.videoStreamings", "streamId")
	}
	require.Equal(t, []string{ids[5], ids[4], ids[3], ids[2], ids[1], ids[0]}, list(admin, ""))
	require.Equal(t, ids, list(admin, "sortBy=firstCreated"))
	require.Equal(t, []string{ids[1], ids[0]}, list(admin, "isLive=true"))
	require.Equal(t, []string{ids[5], ids[4], ids[1], ids[0]}, list(admin, "statuses[]=live&statuses[]=ended"))
	require.Equal(t, []string{ids[4], ids[3], ids[1], ids[0]},
		list(admin, "userPublicIds[]="+owners[0].UserID+"&userPublicIds[]="+owners[1].UserID))
	require.Equal(t, []string{ids[0]}, list(admin, "isLive=true&userPublicIds[]="+owners[0].UserID))
	require.Empty(t, list(admin, "userPublicIds[]=nobody"))
	require.Equal(t, []string{ids[3], ids[0]}, list(owners[0], ""), "one's own")
	require.Empty(t, list(viewer, ""), "no post carries them")
	owners[1].Do(t, http.MethodPost, "/api/v4/posts",
		object{"targetType": "user", "dataType": "liveStream", "data": object{"streamId": ids[1]}}).OK(t)
	require.Equal(t, []string{ids[1]}, list(viewer, ""))

	r := admin.Do(t, http.MethodGet, streamsPath+"?options[limit]=4", nil).OK(t)
	next := admin.Do(t, http.MethodGet, streamsPath+"?options[token]="+url.QueryEscape(r.String(t, "paging.next")), nil).OK(t)
	require.Equal(t, []string{ids[1], ids[0]}, next.Strings(t, "results.videoStreamings", "streamId"))
	back := admin.Do(t, http.MethodGet, streamsPath+"?options[token]="+url.QueryEscape(next.String(t, "paging.prev")), nil).OK(t)
	require.Equal(t, []string{ids[5], ids[4], ids[3], ids[2]}, back.Strings(t, "results.videoStreamings", "streamId"))

	owners[0].Do(t, http.MethodDelete, streamsPath+"/"+ids[3], nil).OK(t)
	require.Equal(t, []string{ids[3]}, list(admin, "isDeleted=true"))
	for _, query := range []string{"", "isDeleted=false"} {
		require.Equal(t, []string{ids[5], ids[4], ids[2], ids[1], ids[0]}, list(admin, query))
	}
	require.Equal(t, []string{ids[1], ids[0]}, list(owners[0], ""), "one's own, and one of a post")
	requireFailure(t, failure{status: 403, code: 400300}, owners[0].Do(t, http.MethodGet, streamsPath+"?isDeleted=true", nil))
}

func TestVideoStreamRefusals(t *testing.T) {
	t.Parallel()
	owner, other := newUser(t, region.EU, "owner"), newUser(t, region.US, "other")
	id := text(newStream(t, owner), "streamId")
	path := streamsPath + "/" + id
	create := func(more object) object { return with(object{"title": "x"}, more) }
	long := strings.Repeat("x", 1001)
	requireAttempts(t, []attempt{
		{"title of 1000", owner, http.MethodPost, streamsPath, object{"title": long[:1000]}, failure{}},
		{"title of 1001", owner, http.MethodPost, streamsPath, object{"title": long}, invalid("title")},
		{"no title", owner, http.MethodPost, streamsPath, object{}, invalid("title")},
		{"description of 5000", owner, http.MethodPost, streamsPath, create(object{"description": strings.Repeat("x", 5000)}), failure{}},
		{
			"description of 5001", owner, http.MethodPost, streamsPath, create(object{"description": strings.Repeat("x", 5001)}),
			invalid("description"),
		},
		{"thumbnail of 50", owner, http.MethodPost, streamsPath, create(object{"thumbnailFileId": long[:50]}), notFound},
		{
			"thumbnail that is no image", owner, http.MethodPost, streamsPath, create(object{"thumbnailFileId": fileOf(t, "file")}),
			invalid("thumbnailFileId"),
		},
		{"thumbnail of 51", owner, http.MethodPost, streamsPath, create(object{"thumbnailFileId": long[:51]}), invalid("thumbnailFileId")},
		{"resolution", owner, http.MethodPost, streamsPath, create(object{"resolution": "UHD"}), invalid("resolution")},
		{
			"metadata of more than 10 KB", owner, http.MethodPost, streamsPath,
			create(object{"metadata": object{"a": strings.Repeat("x", 10*1024)}}), invalid("metadata"),
		},
		{"by an administrator", admin(t), http.MethodPost, streamsPath, create(nil), forbidden},
		{"unknown", owner, http.MethodGet, streamsPath + "/" + unknownID, nil, notFound},
		{"no id", owner, http.MethodGet, streamsPath + "/x", nil, notFound},
		{"changed by another", other, http.MethodPut, path, object{"title": "y"}, forbidden},
		{"deleted by another", other, http.MethodDelete, path, nil, forbidden},
		{"ended by another", other, http.MethodDelete, path + "/streaming-url", nil, forbidden},
		{"an empty title", owner, http.MethodPut, path, object{"title": ""}, invalid("title")},
		{"11 statuses", owner, http.MethodGet, streamsPath + "?" + strings.Repeat("statuses[]=live&", 11), nil, invalid("statuses")},
		{"a status", owner, http.MethodGet, streamsPath + "?statuses[]=x", nil, invalid("statuses")},
		{"101 users", owner, http.MethodGet, streamsPath + "?" + strings.Repeat("userPublicIds[]=u&", 101), nil, invalid("userPublicIds")},
		{"the order", owner, http.MethodGet, streamsPath + "?sortBy=name", nil, invalid("sortBy")},
		{"a token", owner, http.MethodGet, streamsPath + "?options[token]=x", nil, invalid("options.token")},
	})
}
