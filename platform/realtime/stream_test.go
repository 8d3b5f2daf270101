package realtime

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
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

func TestWhereAStreamBegins(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		wanted *position
		start  int64
		reset  bool
	}{
		"new stream":                     {nil, 90, false},
		"nothing was missed":             {&position{region.EU, 90}, 90, false},
		"events were missed":             {&position{region.EU, 50}, 50, false},
		"the oldest event that is kept":  {&position{region.EU, 10}, 10, false},
		"one that is not kept any more":  {&position{region.EU, 9}, 90, true},
		"one that does not exist yet":    {&position{region.EU, 91}, 90, true},
		"an event of another home's log": {&position{region.US, 50}, 90, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stream{conn: newConn("event", region.EU, 1), head: store.EventHead{Trimmed: 10, Last: 90}}
			s.begin(test.wanted)
			require.Equal(t, test.start, s.start)
			require.Equal(t, test.reset, s.reset)
		})
	}
}

// numbers returns the numbers of frames.
func numbers(frames []frame) []int64 {
	var all []int64
	for _, f := range frames {
		all = append(all, f.seq)
	}
	return all
}

func TestQueue(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		act    func(*conn)
		queue  []int64
		seen   int64
		reason string
	}{
		"empty":                          {func(*conn) {}, nil, 0, ""},
		"at the limit":                   {func(c *conn) { push(c, 11, 12) }, []int64{11, 12}, 12, ""},
		"one past the limit":             {func(c *conn) { push(c, 11, 12, 13) }, []int64{11, 12}, 12, endSlow},
		"read by the stream itself":      {func(c *conn) { push(c, 9, 10, 11) }, []int64{11}, 11, ""},
		"delivered twice":                {func(c *conn) { push(c, 11, 12, 11, 12) }, []int64{11, 12}, 12, ""},
		"nothing after the end":          {func(c *conn) { push(c, 11); c.end(endToken); push(c, 12) }, []int64{11}, 11, endToken},
		"the first reason":               {func(c *conn) { c.end(endSession); c.end(endShutdown) }, nil, 0, endSession},
		"a slow client, then shut down":  {func(c *conn) { push(c, 11, 12, 13); c.end(endShutdown) }, []int64{11, 12}, 12, endSlow},
		"events of others":               {func(c *conn) { push(c, 11); c.advance(20) }, []int64{11}, 20, ""},
		"an older position":              {func(c *conn) { push(c, 12); c.advance(11) }, []int64{12}, 12, ""},
		"no position after the end":      {func(c *conn) { push(c, 11, 12, 13); c.advance(20) }, []int64{11, 12}, 12, endSlow},
		"room after the client has read": {func(c *conn) { push(c, 11, 12); c.take(); push(c, 13) }, []int64{13}, 13, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConn("event", region.EU, 2)
			c.from = 10
			test.act(c)
			frames, seen, reason := c.take()
			require.Equal(t, test.queue, numbers(frames))
			require.Equal(t, test.seen, seen)
			require.Equal(t, test.reason, reason)
			frames, _, _ = c.take()
			require.Empty(t, frames, "each frame is sent once")
		})
	}
}

func push(c *conn, numbers ...int64) {
	for _, seq := range numbers {
		c.push(frame{seq: seq})
	}
}

func TestSignalsAreNotLost(t *testing.T) {
	t.Parallel()
	c := newConn("event", region.EU, 5)
	push(c, 1, 2) // neither blocks
	require.Len(t, c.notify, 1)
	<-c.notify
	c.end(endShutdown)
	require.Len(t, c.notify, 1)
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
	_, err := payloadOf[struct{ A int }](store.LoggedEvent{Payload: []byte(`{"A": "x"`)})
	require.ErrorIs(t, err, errUndeliverable, "a retry would fail likewise")
	got, err := payloadOf[struct{ A int }](store.LoggedEvent{Payload: []byte(`{"A": 1, "later": true}`)})
	require.NoError(t, err)
	require.Equal(t, 1, got.A)
	_, _, err = (&Hub{}).message(t.Context(), region.EU, store.LoggedEvent{Name: "unknown"})
	require.ErrorIs(t, err, errUndeliverable)
}
