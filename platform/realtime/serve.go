package realtime

import (
	"context"
	"net/http"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// names are the events by the last part of their paths.
var names = map[string]string{
	"community.userAdded":     events.CommunityUserAdded,
	"marker.marker.user-sync": events.MarkerUserSync,
}

const (
	// heartbeat is the time between two signs of life.
	heartbeat = 15 * time.Second
	// admission bounds what a client waits before its stream begins.
	admission = 5 * time.Second
	// writeTimeout ends the connection of a client that reads nothing.
	writeTimeout = 10 * time.Second
	// catchUpPage is how many missed events are read at once.
	catchUpPage = 100
)

// Known reports whether there is a stream of a name.
func (h *Hub) Known(name string) bool { return names[name] != "" }

// Serve answers with a stream until its client goes or the server ends it. An error is a refusal: nothing was written then.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, name string) error {
	s := &stream{hub: h, request: r, out: newWriter(w)}
	if err := s.admit(r.Context(), names[name]); err != nil {
		return err
	}
	if err := h.enter(s.owner()); err != nil {
		return err
	}
	defer h.exit(s.owner())
	h.metrics.streams.WithLabelValues(s.conn.name).Inc()
	defer h.metrics.streams.WithLabelValues(s.conn.name).Dec()
	s.run(r.Context())
	return nil
}

// enter counts a stream of a user.
func (h *Hub) enter(owner string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return fail.Unavailable("the server is about to stop", nil)
	case h.streams[owner] >= h.StreamsPerUser:
		return fail.New(fail.CodeRateLimited, "Too many streams")
	}
	h.streams[owner]++
	return nil
}

func (h *Hub) exit(owner string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.streams[owner]--; h.streams[owner] == 0 {
		delete(h.streams, owner)
	}
}

// stream is one answer under way.
type stream struct {
	hub     *Hub
	request *http.Request
	out     *writer
	caller  *auth.Caller
	conn    *conn
	head    store.EventHead
	start   int64 // the number after which the stream begins
	reset   bool  // the client wanted to begin elsewhere, which cannot be had
}

// owner is whom the stream counts for.
func (s *stream) owner() string {
	if s.conn.admin {
		return "admin " + s.caller.Name
	}
	return s.conn.userID
}

// admit finds out who listens and where to begin.
func (s *stream) admit(ctx context.Context, name string) error {
	caller, err := auth.Bearer(s.hub.Issuer, s.request.Header)
	if err != nil {
		return err
	}
	wanted, err := parseLineID(s.request.Header.Get("Last-Event-Id"))
	if err != nil {
		return err
	}
	s.caller = caller
	s.conn = newConn(name, caller.Home, s.hub.QueueLength)
	s.conn.userID, s.conn.sessionID, s.conn.admin = caller.UserID, caller.SessionID, caller.Kind == auth.Admin
	if s.conn.admin {
		s.conn.home = s.hub.Region
	}
	ctx, cancel := context.WithTimeout(auth.WithCaller(ctx, caller), admission)
	defer cancel()
	f := s.hub.NewRequest(ctx)
	f.EventHead(s.conn.home, &s.head)
	if err := f.Run(ctx); err != nil {
		return err
	}
	if name == events.MarkerUserSync {
		if err := f.RequireUser(); err != nil {
			return err
		}
	}
	s.begin(wanted)
	return nil
}

// begin decides where the stream begins: after the client's last event where the log still has what follows it, or now.
func (s *stream) begin(wanted *position) {
	s.start = s.head.Last
	if wanted == nil {
		return
	}
	if wanted.home == s.conn.home && wanted.seq >= s.head.Trimmed && wanted.seq <= s.head.Last {
		s.start = wanted.seq
		return
	}
	s.reset = true
}

// run writes the stream to its end.
func (s *stream) run(ctx context.Context) {
	t := s.hub.tails[s.conn.home]
	upTo := t.join(s.conn, s.start, s.head.Last)
	defer t.leave(s.conn)
	s.out.begin(lineID(s.conn.home, s.start), s.reset)
	if err := s.catchUp(ctx, upTo); err != nil {
		if ctx.Err() == nil {
			s.hub.Log.WarnContext(ctx, "stream ended", "event", s.conn.name, "error", err)
		}
		return // the client resumes where it is
	}
	s.follow(ctx)
}

// catchUp writes what the client missed, up to what is handed to the stream.
func (s *stream) catchUp(ctx context.Context, upTo int64) error {
	for s.start < upTo {
		found, err := s.missed(ctx, upTo)
		if err != nil {
			return err
		}
		err = s.hub.tell(ctx, s.conn.home, found, []*conn{s.conn}, func(_ *conn, f frame) { s.write(f) })
		if err != nil || s.out.err != nil {
			return err
		}
		if len(found) < catchUpPage {
			return nil
		}
		s.start = found[len(found)-1].Seq
	}
	return nil
}

// missed reads the next page of events that may be for the client.
func (s *stream) missed(ctx context.Context, upTo int64) ([]store.LoggedEvent, error) {
	var found []store.LoggedEvent
	span := store.EventSpan{Home: s.conn.home, After: s.start, To: upTo, Limit: catchUpPage}
	if s.conn.admin {
		reads := s.hub.Store.NewReadBatch()
		reads.Events(span, &found)
		err := reads.Run(ctx)
		return found, err
	}
	topics := []string{s.conn.userID}
	if s.conn.name == events.CommunityUserAdded {
		reads := s.hub.Store.NewReadBatch()
		reads.CommunitiesOfUser(s.conn.userID, &topics)
		if err := reads.Run(ctx); err != nil {
			return nil, err
		}
	}
	reads := s.hub.Store.NewReadBatch()
	reads.EventsOfTopics(span, topics, &found)
	err := reads.Run(ctx)
	return found, err
}

func (s *stream) write(f frame) {
	s.out.frame(f.text)
	s.hub.metrics.told.WithLabelValues(s.conn.name).Inc()
}

// follow writes what is handed to the stream, until it ends.
func (s *stream) follow(ctx context.Context) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	expiry := time.NewTimer(time.Until(s.caller.ExpiresAt))
	defer expiry.Stop()
	for s.out.err == nil {
		alive := false
		select {
		case <-ctx.Done():
			return
		case <-s.conn.notify:
		case <-s.hub.closing:
			s.conn.end(endShutdown)
		case <-expiry.C:
			s.conn.end(endToken)
		case <-beat.C:
			alive = true
			s.recheck()
		}
		if over := s.flush(alive); over {
			return
		}
	}
}

// recheck ends the stream where its token does not hold any more: the key that signed it may be gone.
func (s *stream) recheck() {
	if _, err := auth.Bearer(s.hub.Issuer, s.request.Header); err != nil {
		s.conn.end(endToken)
	}
}

// flush writes what waits, and a sign of life where that is asked for. It reports whether that was the end.
func (s *stream) flush(alive bool) (over bool) {
	frames, seen, reason := s.conn.take()
	for _, f := range frames {
		s.write(f)
	}
	if reason != "" {
		s.out.end(reason)
		s.hub.metrics.ended.WithLabelValues(reason).Inc()
		return true
	}
	if alive {
		s.out.heartbeat(lineID(s.conn.home, seen))
	}
	return false
}

// position is a place in the log of a home.
type position struct {
	home region.Code
	seq  int64
}
