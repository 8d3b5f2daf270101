package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// streamWorld is a live stream in a post of a public community, with two viewers.
type streamWorld struct {
	n                                *apptest.Network
	host, viewer, other              *apptest.Client
	streamID, key, postID, community string
}

func newStreamWorld(t *testing.T) *streamWorld {
	t.Helper()
	n := mediaNetwork(t)
	w := &streamWorld{
		n: n, host: n.NewUser(t, region.EU, "host"), viewer: n.NewUser(t, region.US, "viewer"),
		other: n.NewUser(t, region.SG, "other"),
	}
	w.community = newCommunity(t, w.host, object{"userIds": []string{w.viewer.UserID, w.other.UserID}})
	w.streamID, w.key = streamInState(t, w.host, mediaServer(n), "live")
	w.postID = w.host.Do(t, http.MethodPost, "/api/v4/posts", object{
		"targetType": "community", "targetId": w.community, "dataType": "liveStream", "data": object{"text": "x", "streamId": w.streamID},
	}).OK(t).String(t, "posts.0.postId")
	return w
}

func (w *streamWorld) bans(verb string) string {
	return streamsPath + "/" + w.streamID + "/users/" + verb
}

func (w *streamWorld) set(t *testing.T, by *apptest.Client, verb string, users ...*apptest.Client) {
	t.Helper()
	requireStream(t, by.Do(t, http.MethodPut, w.bans(verb), object{"userIds": userIDs(users...)}))
}

// TestStreamBan bans a viewer from a stream, for whom it is gone at once with its chat, and lifts the ban.
func TestStreamBan(t *testing.T) {
	t.Parallel()
	w := newStreamWorld(t)
	channel := text(requireStream(t, w.viewer.Do(t, http.MethodGet, streamsPath+"/"+w.streamID, nil)), "channelId")
	inPost := func(by *apptest.Client) object {
		return by.Do(t, http.MethodGet, "/api/v3/posts/"+w.postID, nil).OK(t).Get(t, "videoStreamings.0").(object)
	}
	listed := func(by *apptest.Client) []string {
		return by.Do(t, http.MethodGet, streamsPath, nil).OK(t).Strings(t, "results.videoStreamings", "streamId")
	}
	requireSeen := func(by *apptest.Client) {
		t.Helper()
		requireStream(t, by.Do(t, http.MethodGet, streamsPath+"/"+w.streamID, nil))
		by.Do(t, http.MethodGet, "/api/v3/channels/"+channel, nil).OK(t)
		require.Contains(t, listed(by), w.streamID)
		require.NotNil(t, inPost(by)["watcherUrl"])
	}
	requireSeen(w.viewer)
	w.set(t, w.host, "ban", w.viewer)
	w.set(t, w.host, "ban", w.viewer) // changes nothing
	requireFailure(t, notFound, w.viewer.Do(t, http.MethodGet, streamsPath+"/"+w.streamID, nil))
	require.NotEqual(t, http.StatusOK, w.viewer.Do(t, http.MethodGet, "/api/v3/channels/"+channel, nil).Status)
	require.NotContains(t, listed(w.viewer), w.streamID)
	require.Nil(t, inPost(w.viewer)["watcherUrl"], "the post stays, without the addresses to watch the stream at")
	for _, by := range []*apptest.Client{w.other, w.host} {
		requireSeen(by)
	}
	require.NotNil(t, inPost(w.n.Admin(region.US))["watcherUrl"])
	w.set(t, w.n.Admin(region.SG), "unban", w.other) // who is not banned
	requireFailure(t, notFound, w.viewer.Do(t, http.MethodGet, streamsPath+"/"+w.streamID, nil))
	w.set(t, w.host, "ban", w.other)
	w.set(t, w.n.Admin(region.SG), "unban", w.viewer)
	requireSeen(w.viewer)
	requireFailure(t, notFound, w.other.Do(t, http.MethodGet, streamsPath+"/"+w.streamID, nil))
}

// TestStreamBanLimit bans as many viewers as possible from a stream.
func TestStreamBanLimit(t *testing.T) {
	t.Parallel()
	w := newStreamWorld(t)
	execute(t, w.n,
		`UPDATE video_streams SET banned_ids = (SELECT array_agg('eu' || lpad(n::text, 22, '0') ORDER BY n) FROM generate_series(1, 999) AS n) WHERE id = $1`, w.streamID)
	w.set(t, w.host, "ban", w.viewer)
	full := failure{status: 400, code: 400000}
	requireFailure(t, full, w.host.Do(t, http.MethodPut, w.bans("ban"), object{"userIds": userIDs(w.other)}))
	w.set(t, w.host, "ban", w.viewer) // who is banned already
	w.set(t, w.host, "unban", w.viewer)
	w.set(t, w.host, "ban", w.other)
}

// TestStreamBanEvents checks that watchers and the banned viewer learn of a ban, and that the viewer receives no event of the stream
// after it, and all events again after the ban is lifted. Each ban follows an event that the viewer received just before.
func TestStreamBanEvents(t *testing.T) {
	t.Parallel()
	w := newStreamWorld(t)
	topic := w.n.NetworkID + "/videostreaming"
	watcher, banned := connected(t, w.other, topic), connected(t, w.viewer, topic)
	second, secondKey := streamInState(t, w.host, mediaServer(w.n), "live")
	require.Equal(t, "video-streaming.didStart", watcher.Next(t).EventType)
	require.Equal(t, "video-streaming.didStart", banned.Next(t).EventType)
	report := func(streamID, key, event string, readers ...*apptest.MQTTClient) {
		t.Helper()
		mediaServer(w.n).Do(t, http.MethodPost, mediaStreamsPath+streamID+"/events", streamReport(event, key)).OK(t)
		for _, reader := range readers {
			require.Equal(t, streamID, reader.Next(t).Response().String(t, "data.videoStreamings.0.streamId"))
		}
	}
	report(w.streamID, w.key, "flagged", watcher, banned)
	for _, act := range []struct{ verb, event string }{
		{"ban", "video-streaming.viewerDidBan"},
		{"unban", "video-streaming.viewerDidUnban"},
		{"ban", "video-streaming.viewerDidBan"},
	} {
		w.set(t, w.host, act.verb, w.viewer)
		for _, reader := range []*apptest.MQTTClient{watcher, banned} {
			e := reader.Next(t)
			require.Equal(t, act.event, e.EventType)
			requireResource(t, "list", resource{"networkId": "id", "streamId": "id", "userId": "s", "actor": "id", "createdAt": "ts"},
				e.Response().Get(t, "data.list.0"))
			require.Equal(t, w.streamID, e.Response().String(t, "data.list.0.streamId"))
			require.Equal(t, w.viewer.UserID, e.Response().String(t, "data.list.0.userId"))
			require.Equal(t, w.host.InternalID, e.Response().String(t, "data.list.0.actor"))
			require.NotContains(t, e.Text, "play.test", "the event has no address to watch the stream at")
		}
		hearing := []*apptest.MQTTClient{watcher, banned}
		if act.verb == "ban" {
			hearing = hearing[:1]
		}
		report(w.streamID, w.key, "flagged", hearing...)
		report(second, secondKey, "flagged", watcher, banned) // before which an event of the first stream would arrive
	}
	report(w.streamID, w.key, "stopped", watcher)
	report(second, secondKey, "stopped", watcher, banned)
}

func TestStreamBanRefusals(t *testing.T) {
	t.Parallel()
	w := newStreamWorld(t)
	boss := w.n.NewUser(t, region.EU, "boss")
	w.n.Admin(region.EU).Do(t, http.MethodPut, "/api/v3/users", object{"userId": boss.UserID, "roles": []string{"global-admin"}}).OK(t)
	users := func(ids ...string) object { return object{"userIds": ids} }
	many := make([]string, 101)
	for i := range many {
		many[i] = w.viewer.UserID
	}
	attempts := []attempt{
		{"the creator", w.n.Admin(region.EU), http.MethodPut, w.bans("ban"), users(w.host.UserID), forbidden},
		{"a user of higher authority", w.host, http.MethodPut, w.bans("ban"), users(w.other.UserID, boss.UserID), notAllowed},
	}
	for _, verb := range []string{"ban", "unban"} {
		attempts = append(attempts,
			attempt{verb + " by a viewer", w.other, http.MethodPut, w.bans(verb), users(w.viewer.UserID), notAllowed},
			attempt{verb + " anonymously", w.n.Anonymous(region.EU), http.MethodPut, w.bans(verb), users(w.viewer.UserID), unauthorized},
			attempt{verb + " of an unknown user", w.host, http.MethodPut, w.bans(verb), users("unknown-user"), notFound},
			attempt{verb + " of no user", w.host, http.MethodPut, w.bans(verb), users(), invalid("userIds")},
			attempt{verb + " of 100 users", w.host, http.MethodPut, w.bans(verb), users(many[:100]...), failure{}},
			attempt{verb + " of 101 users", w.host, http.MethodPut, w.bans(verb), users(many...), invalid("userIds")},
			attempt{
				verb + " from no stream", w.host, http.MethodPut, streamsPath + "/" + unknownID + "/users/" + verb, users(w.viewer.UserID),
				notFound,
			},
		)
	}
	requireAttempts(t, attempts)
}
