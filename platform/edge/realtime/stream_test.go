package realtime

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/eventlog"
)

func TestParseLineID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*position{
		"":                       nil,
		"eu-0":                   {region.EU, 0},
		"sg-17":                  {region.SG, 17},
		"us-9223372036854775807": {region.US, 1<<63 - 1},
		lineID(region.EU, 1<<40): {region.EU, 1 << 40},
	} {
		got, err := parseLineID(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"17", "eu", "eu-", "eu-x", "eu--1", "eu-1-2", "xx-1", "-1", " eu-1", "eu-9223372036854775808", "eu-1.0"} {
		_, err := parseLineID(text)
		require.Equal(t, fail.KindValidation, fail.From(err).Kind, text)
	}
}

// TestWhereAStreamBegins resumes streams of the contract, which have events of one home and resume after any number of them.
func TestWhereAStreamBegins(t *testing.T) {
	t.Parallel()
	const last = maxCatchUp + 90
	for name, test := range map[string]struct {
		wanted positions
		start  int64
		reset  bool
	}{
		"new stream":                     {nil, last, false},
		"nothing was missed":             {positions{region.EU: last}, last, false},
		"events were missed":             {positions{region.EU: 50}, 50, false},
		"the oldest event that is kept":  {positions{region.EU: 10}, 10, false},
		"one that is not kept any more":  {positions{region.EU: 9}, last, true},
		"one that does not exist yet":    {positions{region.EU: last + 1}, last, true},
		"an event of another home's log": {positions{region.US: 50}, last, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eu := newTail(nil, region.EU)
			eu.reading, eu.last = true, last
			s := &stream{
				hub: &Hub{tails: map[region.Code]*tail{region.EU: eu}}, contract: events.MarkerUserSync, homes: []region.Code{region.EU},
				subscriber: &subscriber{watch: newWatch(nil, 1)}, wanted: test.wanted, at: positions{}, upTo: positions{},
				heads: map[region.Code]eventlog.EventHead{region.EU: {Trimmed: 10, Last: last}},
			}
			s.begin()
			require.Equal(t, positions{region.EU: test.start}, s.at)
			require.Equal(t, positions{region.EU: last}, s.upTo)
			require.Equal(t, test.reset, s.reset)
		})
	}
}

func TestSignalsAreNotLost(t *testing.T) {
	t.Parallel()
	w := newWatch(nil, 5)
	w.join(region.EU, 0)
	pushTo(w, region.EU, 1, 2) // neither blocks
	require.Len(t, w.notify, 1)
	<-w.notify
	w.end(endShutdown)
	require.Len(t, w.notify, 1)
}

func TestStreamsPerUser(t *testing.T) {
	t.Parallel()
	h := &Hub{Options: Options{StreamsPerUser: 2}, streams: map[string]int{}}
	require.NoError(t, h.enter("anna"))
	require.NoError(t, h.enter("anna"), "at the limit")
	require.Equal(t, fail.CodeRateLimited, fail.From(h.enter("anna")).Code, "one past the limit")
	require.NoError(t, h.enter("bob"), "others have a limit of their own")
	h.exit("anna")
	require.NoError(t, h.enter("anna"))
	h.exit("bob")
	require.NotContains(t, h.streams, "bob", "users without streams take no memory")
	h.closed = true
	require.Equal(t, fail.KindUnavailable, fail.From(h.enter("bob")).Kind)
}

func TestStreamText(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		write func(*writer)
		want  string
	}{
		"new":       {func(w *writer) { w.begin("eu-5", false) }, "retry: 2000\nid: eu-5\n\n"},
		"reset":     {func(w *writer) { w.begin("eu-5", true) }, "retry: 2000\nid: eu-5\n\nid: eu-5\nevent: reset\ndata: {}\n\n"},
		"heartbeat": {func(w *writer) { w.heartbeat("eu-5") }, ": heartbeat\nid: eu-5\n\n"},
		"end":       {func(w *writer) { w.end(endSlow) }, "event: end\ndata: {\"reason\":\"slow\"}\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorder := httptest.NewRecorder()
			test.write(newWriter(recorder, time.Minute))
			require.Equal(t, test.want, recorder.Body.String())
			require.True(t, recorder.Flushed)
		})
	}
	recorder := httptest.NewRecorder()
	w := newWriter(recorder, time.Minute)
	w.err = fail.NotFound()
	w.heartbeat("eu-5")
	require.Empty(t, recorder.Body.String(), "nothing after an error")
}

func TestPayloadOfMalformedEvent(t *testing.T) {
	t.Parallel()
	_, err := changeOf(eventlog.LoggedEvent{Payload: []byte(`{"id": "x"`)})
	require.ErrorIs(t, err, events.ErrUndeliverable, "a retry would fail likewise")
	got, err := changeOf(eventlog.LoggedEvent{Payload: []byte(`{"id": "x", "later": true}`)})
	require.NoError(t, err)
	require.Equal(t, "x", got.ID)
	_, err = (&Hub{}).readObject(t.Context(), region.EU, eventlog.LoggedEvent{}, events.Change{Kind: "unknown"})
	require.ErrorIs(t, err, events.ErrUndeliverable)
}
