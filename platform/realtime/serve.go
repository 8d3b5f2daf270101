package realtime

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// names maps the last segment of a stream's path to the name of its events.
var names = map[string]string{
	"community.userAdded":     events.CommunityUserAdded,
	"marker.marker.user-sync": events.MarkerUserSync,
}

const (
	// heartbeat is the interval between heartbeats.
	heartbeat = 15 * time.Second
	// catchUpPage is the number of missed events read per query.
	catchUpPage = 100
)

// Label returns the name by which metrics count a stream; empty if there is no stream called name.
func (h *Hub) Label(name string) string {
	switch {
	case names[name] != "":
		return name
	case name == severalEvents || events.Known(name):
		return severalEvents
	}
	return ""
}

// Serve responds with a stream until the client disconnects or the server ends it. If it returns an error, nothing was
// written.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, name string) error {
	if names[name] == "" {
		return h.serveWatch(w, r, name)
	}
	s := &stream{hub: h, request: r, out: newWriter(w, h.limits().WriteStream)}
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

// enter counts a new stream of a user, or rejects it.
func (h *Hub) enter(owner string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return fail.Unavailable("the server is shutting down", nil)
	case h.streams[owner] >= h.StreamsPerUser && !defence.Off(defence.StreamsPerUser):
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

// stream is the state of one response.
type stream struct {
	hub     *Hub
	request *http.Request
	out     *writer
	caller  *auth.Caller
	conn    *conn
	head    store.EventHead
	start   int64 // the number after which the stream begins
	reset   bool  // the position requested by the client is not available
}

// owner returns the user, or the administrator's name, for whom the stream is counted.
func (s *stream) owner() string {
	if s.conn.admin {
		return "admin " + s.caller.Name
	}
	return s.conn.userID
}

// admit authenticates the client and determines where the stream begins.
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
	s.conn = newConn(name, s.hub.HomeOf(caller.UserID), s.hub.QueueLength)
	s.conn.userID, s.conn.sessionID, s.conn.admin = caller.UserID, caller.SessionID, caller.Kind == auth.Admin
	if s.conn.admin {
		s.conn.home = s.hub.Region
	}
	ctx, cancel := context.WithTimeout(auth.WithCaller(ctx, caller), s.hub.limits().Admission)
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

// begin sets where the stream begins: after the client's last event if the log still has all later ones, or at the end.
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
	expiry := time.AfterFunc(s.caller.ExpiresAt.Sub(s.hub.Now()), func() { s.conn.end(endToken) })
	defer expiry.Stop()
	s.out.begin(lineID(s.conn.home, s.start), s.reset)
	if err := s.catchUp(ctx, upTo); err != nil {
		if ctx.Err() == nil && !errors.Is(err, context.Canceled) {
			s.hub.Log.WarnContext(ctx, "stream ended", "event", s.conn.name, "error", err)
		}
		_, _, reason := s.conn.take()
		s.hub.interrupted(s.out, reason)
		return // the client will resume from there
	}
	s.follow(ctx)
}

// catchUp writes the events that the client missed, up to those that are delivered to the stream.
func (s *stream) catchUp(ctx context.Context, upTo int64) error {
	missed := &replay{limits: s.hub.Limits, caller: s.caller}
	ctx, stop := s.hub.asUserUntil(ctx, s.conn.ending, s.caller.UserID)
	defer stop()
	for s.start < upTo {
		found, err := s.missed(ctx, upTo)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(found, replayedPerRequest) {
			if err := missed.admitSome(ctx); err != nil {
				return err
			}
			err = s.hub.deliver(ctx, s.conn.home, some, []*conn{s.conn}, func(_ *conn, f frame) { s.write(f) })
			if err != nil || s.out.err != nil {
				return err
			}
		}
		if len(found) < catchUpPage {
			return nil
		}
		s.start = found[len(found)-1].Seq
	}
	return nil
}

// missed reads the next page of events that may concern the client.
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
	s.out.send(f.text)
	s.hub.metrics.written.WithLabelValues(s.conn.name).Inc()
}

// follow writes the events that are delivered to the stream, until it ends.
func (s *stream) follow(ctx context.Context) {
	s.hub.follow(ctx, follower{s.out, s.conn.notify, s.conn.end, s.recheck, s.flush})
}

// recheck ends the stream if its token is no longer valid, for example because its signing key was removed.
func (s *stream) recheck() {
	if _, err := auth.Bearer(s.hub.Issuer, s.request.Header); err != nil {
		s.conn.end(endToken)
	}
}

// flush writes the queued events, and a heartbeat if alive is true. It reports whether the stream has ended.
func (s *stream) flush(alive bool) (ended bool) {
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

// position is a position in the log of a home.
type position struct {
	home region.Code
	seq  int64
}
