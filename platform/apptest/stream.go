package apptest

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// StreamEvent is one event of a stream, or another block such as a heartbeat.
type StreamEvent struct {
	ID      string // empty if the client keeps its last id
	Name    string // empty for the beginning of a stream and heartbeats
	Data    string
	Comment string
	Retry   string
}

// Decode decodes the data of an event.
func (e StreamEvent) Decode(t testing.TB) map[string]any {
	t.Helper()
	var data map[string]any
	require.NoError(t, json.Unmarshal([]byte(e.Data), &data), e.Data)
	return data
}

// Response returns the data as an answer, so that it can be read by paths.
func (e StreamEvent) Response() *Response {
	return &Response{Status: http.StatusOK, Body: []byte(e.Data), request: "event " + e.Name}
}

// Stream is an open stream of events.
type Stream struct {
	// Header is the answer's.
	Header http.Header
	// LastID is the id that a client would resume with.
	LastID string

	events chan StreamEvent
	cancel context.CancelFunc
	began  time.Time // when a new stream began, in the precision of events; zero for a stream that resumes
}

// Listen opens a stream and reads its beginning. lastID is the id to resume after; empty for none.
func (c *Client) Listen(t testing.TB, path, lastID string) *Stream {
	t.Helper()
	s, status, err := c.open(t, path, lastID)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	ctx, cancel := patient(t)
	defer cancel()
	first, ok := s.next(ctx, t)
	require.True(t, ok, "the stream ended immediately")
	require.NotEmpty(t, first.Retry)
	if lastID == "" && !strings.Contains(path, "lastEventId") {
		s.began = now()
	}
	return s
}

// ListenAgain reopens a stream as a disconnected client does: it tries until a server accepts, and returns nil if
// ctx ends first.
func (c *Client) ListenAgain(ctx context.Context, t testing.TB, path, lastID string) *Stream {
	t.Helper()
	for ctx.Err() == nil {
		s, status, err := c.open(t, path, lastID) //nolint:contextcheck // the stream outlives the wait for it
		if err == nil && status == http.StatusOK {
			s.LastID = lastID
			return s
		}
		pause(ctx, 20*time.Millisecond)
	}
	return nil
}

// open requests a stream.
func (c *Client) open(t testing.TB, path, lastID string) (s *Stream, status int, err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	req := c.With("Accept", "text/event-stream", "Last-Event-ID", lastID).Request(t, http.MethodGet, path, nil).WithContext(ctx)
	resp, err := (&http.Client{Transport: c.Network.http.Transport}).Do(req) //nolint:bodyclose // closed below, when it ends
	if err != nil {
		return nil, 0, err
	}
	s = &Stream{Header: resp.Header, events: make(chan StreamEvent, 10_000), cancel: cancel}
	go func() {
		defer resp.Body.Close()
		defer close(s.events)
		read(bufio.NewScanner(resp.Body), path, s.events)
	}()
	return s, resp.StatusCode, nil
}

func read(lines *bufio.Scanner, path string, events chan<- StreamEvent) {
	lines.Buffer(nil, 1<<20)
	var e StreamEvent
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "":
			if Hooks.Event != nil && e.Name != "" {
				Hooks.Event(path, e)
			}
			events <- e
			e = StreamEvent{}
		case name == "":
			e.Comment = value
		case name == "id":
			e.ID = value
		case name == "event":
			e.Name = value
		case name == "data":
			e.Data += value
		case name == "retry":
			e.Retry = value
		}
	}
}

// next returns the next block. It skips events that were sent before a new stream began: whether they arrive depends on how soon they are
// delivered.
func (s *Stream) next(ctx context.Context, t testing.TB) (StreamEvent, bool) {
	t.Helper()
	for {
		e, ok := s.Poll(ctx)
		require.NoError(t, ctx.Err(), "no event came")
		if !ok || !e.wasSentBefore(s.began) {
			return e, ok
		}
	}
}

// wasSentBefore reports whether an event says that it was sent before a time.
func (e StreamEvent) wasSentBefore(began time.Time) bool {
	var envelope struct {
		SendTime time.Time `json:"sendTime"`
	}
	return json.Unmarshal([]byte(e.Data), &envelope) == nil && !envelope.SendTime.IsZero() && envelope.SendTime.Before(began)
}

// patient returns a context that ends after Patience.
func patient(t testing.TB) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(context.WithoutCancel(t.Context()), Patience)
}

// Next returns the next event and fails the test if the stream ends.
func (s *Stream) Next(t testing.TB) StreamEvent {
	t.Helper()
	ctx, cancel := patient(t)
	defer cancel()
	for {
		e, ok := s.next(ctx, t)
		require.True(t, ok, "the stream ended")
		if e.Name != "" {
			return e
		}
	}
}

// End returns the remaining events of a stream that the server ends.
func (s *Stream) End(t testing.TB) []StreamEvent {
	t.Helper()
	ctx, cancel := patient(t)
	defer cancel()
	var rest []StreamEvent
	for {
		e, ok := s.next(ctx, t)
		if !ok {
			return rest
		}
		if e.Name != "" {
			rest = append(rest, e)
		}
	}
}

// Poll returns the next block, event or not. It reports false if the stream or ctx ended.
func (s *Stream) Poll(ctx context.Context) (StreamEvent, bool) {
	select {
	case e, ok := <-s.events:
		if ok && e.ID != "" {
			s.LastID = e.ID
		}
		return e, ok
	case <-ctx.Done():
		return StreamEvent{}, false
	}
}

// Close closes the stream as a disconnecting client does.
func (s *Stream) Close() { s.cancel() }
