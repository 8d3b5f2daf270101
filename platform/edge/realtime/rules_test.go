package realtime

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/eventlog"
)

// TestRefusalCodes checks by which codes clients learn whether they may try to connect again.
func TestRefusalCodes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err      error
		old, new packets.Code // of versions before 5, and of 5
	}{
		"no database":   {fail.Unexpected(context.DeadlineExceeded), packets.ErrServerUnavailable, packets.ErrServerUnavailable},
		"rate limit":    {fail.RateLimited("", time.Second), packets.ErrServerUnavailable, packets.ErrServerUnavailable},
		"ended session": {fail.Unauthorized(), packets.ErrBadUsernameOrPassword, packets.ErrBadUsernameOrPassword},
		"banned":        {fail.GlobalBan(), packets.ErrClientIdentifierNotValid, packets.ErrNotAuthorized},
		"no user":       {fail.NotAllowed(), packets.ErrClientIdentifierNotValid, packets.ErrNotAuthorized},
	} {
		for version, want := range map[byte]packets.Code{3: test.old, 4: test.old, 5: test.new} {
			cl := &mqtt.Client{Properties: mqtt.ClientProperties{ProtocolVersion: version}}
			require.Equal(t, want, refusal(cl, test.err), "%s, version %d", name, version)
		}
	}
}

// countedLimits counts what is spent.
type countedLimits struct {
	RateLimits
	spent int
	err   error
}

func (l *countedLimits) AwaitSpare(context.Context, *auth.Caller) error {
	l.spent++
	return l.err
}

// TestReplayedEventsAreCounted checks that every five missed events count as a request, beginning with the first one.
func TestReplayedEventsAreCounted(t *testing.T) {
	t.Parallel()
	limits := &countedLimits{}
	s := &stream{hub: &Hub{Options: Options{Limits: limits}}, subscriber: &subscriber{}}
	var spent []int
	for range 2*replayedPerRequest + 1 {
		require.NoError(t, s.admitReplay(t.Context()))
		spent = append(spent, limits.spent)
	}
	require.Equal(t, []int{1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3}, spent)
	limits.err, s.replayed = context.Canceled, 0
	require.ErrorIs(t, s.admitReplay(t.Context()), context.Canceled)
}

func TestLabels(t *testing.T) {
	t.Parallel()
	h := &Hub{}
	for name, want := range map[string]string{
		"community.userAdded": "community.userAdded", "marker.marker.user-sync": "marker.marker.user-sync", "events": "events",
		"post.created":     "events",
		"marker.user-sync": "events", "post.invented": "", "": "",
	} {
		require.Equal(t, want, h.Label(name), name)
	}
	require.Equal(t, events.MarkerUserSync, eventNameOf("marker.marker.user-sync"))
	require.Equal(t, "post.created", eventNameOf("post.created"))
}

func TestNamesOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stream string
		named  []string
		want   map[string]bool
	}{
		"one event":      {"post.created", []string{"post.updated"}, map[string]bool{"post.created": true}},
		"all events":     {severalEvents, nil, nil},
		"some events":    {severalEvents, []string{"post.created", "post.updated"}, map[string]bool{"post.created": true, "post.updated": true}},
		"by another way": {severalEvents, []string{"marker.marker.user-sync"}, map[string]bool{events.MarkerUserSync: true}},
	} {
		got, err := namesOf(test.stream, map[string][]string{"event": test.named})
		require.NoError(t, err, name)
		require.Equal(t, test.want, got, name)
	}
	_, err := namesOf(severalEvents, map[string][]string{"event": {"post.created", "post.invented"}})
	require.Equal(t, fail.KindValidation, fail.From(err).Kind)
}

func TestDistinctEvents(t *testing.T) {
	t.Parallel()
	ids := service.Map(distinct([]eventlog.Event{{ID: "b"}, {ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "a"}}),
		func(e eventlog.Event) string { return e.ID })
	require.Equal(t, []string{"b", "a", "c"}, ids)
}

// TestAdmittedStreams checks from where on the events of a home are delivered to streams.
func TestAdmittedStreams(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reading bool
		at      int64
		want    positions
	}{
		"a tail that waits":                  {false, 50, positions{}},
		"a tail that reads":                  {true, 50, positions{region.EU: 80}},
		"a new stream":                       {true, -1, positions{region.EU: 80}},
		"a stream that is ahead of the tail": {true, 90, positions{region.EU: 90}},
	} {
		tail := newTail(nil, region.EU)
		tail.reading, tail.last = test.reading, 80
		w := newWatch(nil, 1)
		last, known := tail.admit(w, test.at)
		require.Equal(t, int64(80), last, name)
		require.Equal(t, test.reading, known, name)
		require.Equal(t, test.want, w.seen, name)
		tail.attach(w.conn)
		require.Equal(t, []*conn{w.conn}, tail.open(), name)
		tail.detach(w.conn)
		require.Empty(t, tail.open(), name)
	}
}

// TestWhereAStreamOfTopicsBegins resumes streams in the log of the EU, whose tail has delivered the events up to 20,090. The log has the
// events from 11 on.
func TestWhereAStreamOfTopicsBegins(t *testing.T) {
	t.Parallel()
	const last = 20_090
	for name, test := range map[string]struct {
		wanted  positions
		waits   bool // the tail waits for its home
		silent  bool // the home has not answered the stream
		at      string
		catchUp bool
		reset   bool
	}{
		"a new stream":                       {nil, false, false, "eu-20090", false, false},
		"nothing was missed":                 {positions{region.EU: last}, false, false, "eu-20090", false, false},
		"events were missed":                 {positions{region.EU: last - maxCatchUp}, false, false, "eu-10090", true, false},
		"too many were missed":               {positions{region.EU: last - maxCatchUp - 1}, false, false, "eu-20090", false, true},
		"one that is not kept any more":      {positions{region.EU: 9}, false, false, "eu-20090", false, true},
		"one that does not exist":            {positions{region.EU: last + 11}, false, false, "eu-20090", false, true},
		"one that the tail has not read":     {positions{region.EU: last + 10}, false, false, "eu-20100", false, false},
		"another home":                       {positions{region.US: 5}, false, false, "eu-20090", false, true},
		"a home that does not answer":        {positions{region.EU: 50}, false, true, "eu-50", false, false},
		"a tail that waits":                  {positions{region.EU: 50}, true, false, "eu-50", false, false},
		"a tail that waits, for a new one":   {nil, true, false, "", false, false},
		"another home, with none that waits": {positions{region.US: 5}, true, true, "", false, false},
	} {
		h := &Hub{tails: map[region.Code]*tail{}}
		s := &stream{
			hub: h, homes: region.All(), subscriber: &subscriber{watch: newWatch(nil, 5)}, wanted: test.wanted, at: positions{}, upTo: positions{},
		}
		if test.wanted != nil {
			s.heads = map[region.Code]eventlog.EventHead{}
		}
		for _, home := range region.All() {
			h.tails[home] = newTail(h, home)
		}
		eu := h.tails[region.EU]
		eu.reading, eu.last = !test.waits, last
		if test.wanted != nil && !test.silent {
			s.heads[region.EU] = eventlog.EventHead{Trimmed: 10, Last: last + 10}
		}
		s.begin()
		delete(s.at, region.US)
		require.Equal(t, test.at, s.at.String(), name)
		require.Equal(t, test.reset, s.reset, name)
		require.Equal(t, test.catchUp, s.upTo[region.EU] > s.at[region.EU], name)
		require.Equal(t, test.waits || test.silent, slices.Contains(s.subscriber.watch.missing(), region.EU), name)
	}
}

// TestPurgedObjects checks what clients learn of an object that was removed for good.
func TestPurgedObjects(t *testing.T) {
	t.Parallel()
	for kind, want := range map[events.ObjectKind]string{
		events.KindPost:        `{"posts": [{"postId": "x", "path": "first", "isDeleted": true}]}`,
		events.KindComment:     `{"comments": [{"commentId": "x", "path": "first", "isDeleted": true}]}`,
		events.KindStory:       `{"stories": [{"storyId": "x", "path": "first", "isDeleted": true}]}`,
		events.KindMessage:     `{"messages": [{"messageId": "x", "path": "first", "isDeleted": true}]}`,
		events.KindMessageFeed: `{"messageFeeds": [{"messageFeedId": "x", "path": "first", "isDeleted": true}]}`,
	} {
		o, err := purged(events.Change{Kind: kind, ID: "x", Topics: []string{"first", "second"}})
		require.NoError(t, err)
		text, err := json.Marshal(o.data)
		require.NoError(t, err)
		require.JSONEq(t, want, string(text))
	}
	_, err := purged(events.Change{Kind: events.KindChannel, ID: "x", Topics: []string{"first"}})
	require.ErrorIs(t, err, errGone)
}

// TestEnvelope checks the JSON of an event as public clients receive it.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	h := &Hub{Options: Options{Deps: &service.Deps{NetworkID: "n"}}}
	at := time.Date(2026, 11, 20, 13, 0, 0, 123_456_789, time.FixedZone("", 3600))
	e := eventlog.LoggedEvent{ID: "e", Name: "post.created", SenderID: "s", SentAt: at}
	text := rawOf(h.envelope(e, "n/post", map[string]json.RawMessage{"posts": []byte(`[]`)}))
	require.JSONEq(t, `{"eventType": "post.created", "data": {"posts": []}, "id": "e", "networkId": "n", "path": "n/post", "senderId": "s",
		"sentTime": "2026-11-20T12:00:00.123Z", "sendTime": "2026-11-20T12:00:00.123Z", "version": 1}`, string(text))
}

// TestDataOfEvents checks what events lack of an answer to one user, and what those about mutes have at the top.
func TestDataOfEvents(t *testing.T) {
	t.Parallel()
	data,
		err := withoutMine([]byte(`{"posts": [{"postId": "p", "myReactions": ["like"]}, {"postId": "q"}], "users": [{"userId": "u"}], "paging": {}}`))
	require.NoError(t, err)
	text, err := json.Marshal(data)
	require.NoError(t, err)
	require.JSONEq(t, `{"posts": [{"postId": "p"}, {"postId": "q"}], "users": [{"userId": "u"}]}`, string(text))

	h := &Hub{Options: Options{Deps: &service.Deps{NetworkID: "n"}}}
	for name, want := range map[string]string{
		"channel.setMuted":      `"channelId": "c", "muteTimeout": "t", "networkId": "n", "actor": "s",`,
		"channel.setMutedUsers": `"channelId": "d", "muteTimeout": "v", "networkId": "n", "actor": "s", "userIds": ["a", "b"],`,
		"channel.updated":       ``,
	} {
		const rows = `"channels": [{"channelId": "c", "muteTimeout": "t"}],
			"channelUsers": [{"channelId": "d", "userId": "a", "muteTimeout": "v"}, {"channelId": "d", "userId": "b", "muteTimeout": "v"}]`
		o := &object{}
		require.NoError(t, json.Unmarshal([]byte("{"+rows+"}"), &o.data))
		h.addMute(o, eventlog.LoggedEvent{Name: name, SenderID: "s"})
		text, err := json.Marshal(o.data)
		require.NoError(t, err)
		require.JSONEq(t, "{"+want+rows+"}", string(text), name)
	}
}
