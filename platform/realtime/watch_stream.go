package realtime

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// maxCatchUp is the maximum number of events in the log of a home after which a stream resumes. After more, clients reload their data.
const maxCatchUp = 10_000

// watchStream is the state of a response with the events of topics.
type watchStream struct {
	hub        *Hub
	request    *http.Request
	name       string
	out        *writer
	subscriber *subscriber
	topics     []string
	wanted     positions                       // of the client's last event; nil for a new stream
	heads      map[region.Code]store.EventHead // of the homes that answered; nil for a new stream
	at         positions                       // after the events that were written
	upTo       positions                       // where the events begin that are delivered to the stream
	reset      bool                            // a position requested by the client is not available
}

// serveWatch responds with a stream of the events of topics.
func (h *Hub) serveWatch(w http.ResponseWriter, r *http.Request, name string) error {
	s := &watchStream{hub: h, request: r, name: name, out: newWriter(w, h.limits().WriteStream), at: positions{}, upTo: positions{}}
	release, err := s.admit(r.Context())
	if err != nil {
		return err
	}
	defer release()
	h.metrics.streams.WithLabelValues(severalEvents).Inc()
	defer h.metrics.streams.WithLabelValues(severalEvents).Dec()
	s.run(r.Context())
	return nil
}

// admit authenticates the client, decides which events it receives, and counts the stream until release is called.
func (s *watchStream) admit(ctx context.Context) (release func(), err error) {
	claims, err := auth.BearerClaims(s.hub.Issuer, s.request.Header)
	if err != nil {
		return nil, err
	}
	caller := auth.CallerOf(claims)
	ctx, cancel := context.WithTimeout(auth.WithCaller(ctx, caller), s.hub.limits().Admission)
	defer cancel()
	if err := s.hub.NewUserRequest(ctx).Run(ctx); err != nil {
		return nil, err
	}
	if err := s.hub.enter(claims.UserID); err != nil { // before the topics are checked, which reads rows for each of them
		return nil, err
	}
	if err := s.parse(ctx, claims); err != nil {
		s.hub.exit(claims.UserID)
		return nil, err
	}
	s.hub.broker.addWatch(s.subscriber, s.topics)
	s.hub.position(ctx)
	s.readHeads(ctx)
	return func() { s.hub.broker.removeWatch(s.subscriber, s.topics) }, nil
}

// parse reads what the client asks for.
func (s *watchStream) parse(ctx context.Context, claims auth.Claims) (err error) {
	if s.wanted, err = parsePositions(s.request.Header.Get("Last-Event-Id")); err != nil {
		return err
	}
	query := s.request.URL.Query()
	wanted, err := namesOf(s.name, query)
	if err != nil {
		return err
	}
	s.subscriber = newWatchSubscriber(s.hub, claims, newWatch(wanted, s.hub.QueueLength))
	if s.topics, err = s.hub.broker.topicsOf(ctx, s.subscriber, query["topic"]); err != nil {
		s.subscriber.expiry.Stop()
	}
	return err
}

// readHeads reads the ends of the logs, which a stream needs that resumes. The home that does not answer has none.
func (s *watchStream) readHeads(ctx context.Context) {
	if s.wanted == nil {
		return
	}
	reads := s.hub.Store.NewBestEffortBatch()
	heads := map[region.Code]*store.EventHead{}
	for _, home := range region.All() {
		heads[home] = &store.EventHead{}
		reads.EventHead(home, heads[home])
	}
	s.heads = map[region.Code]store.EventHead{}
	if reads.Run(ctx) != nil {
		return
	}
	for home, head := range heads {
		if !slices.Contains(reads.Missing(), home) {
			s.heads[home] = *head
		}
	}
}

// begin determines where the stream begins in the log of each home, and joins its tail.
func (s *watchStream) begin() {
	for _, home := range region.All() {
		at, asked := s.wanted[home]
		head, answered := s.heads[home]
		if !asked || answered && (at < head.Trimmed || at > head.Last) {
			at = -1
		}
		upTo, known := s.hub.tails[home].admit(s.subscriber.watch, at)
		if !known || s.wanted != nil && !answered {
			s.subscriber.watch.joinLater(home, at)
			if at >= 0 {
				s.at[home] = at
			}
			continue
		}
		if at < 0 || upTo-at > maxCatchUp {
			at, s.reset = upTo, s.reset || s.wanted != nil
		}
		s.at[home], s.upTo[home] = at, upTo
	}
}

// run writes the stream to its end.
func (s *watchStream) run(ctx context.Context) {
	s.begin()
	s.out.begin(s.at.String(), s.reset)
	missed := &replay{limits: s.hub.Limits, caller: s.subscriber.caller}
	replaying, stop := s.hub.asUserUntil(ctx, s.subscriber.watch.ending, s.subscriber.UserID())
	defer stop()
	for _, home := range s.upTo.homes() {
		if err := s.catchUp(replaying, home, missed); err != nil || s.out.err != nil {
			if replaying.Err() == nil && err != nil {
				s.hub.Log.WarnContext(ctx, "stream ended", "event", s.name, "error", err)
			}
			_, _, reason := s.subscriber.watch.take()
			s.hub.interrupted(s.out, reason)
			return // the client will resume from there
		}
	}
	s.hub.follow(ctx, follower{s.out, s.subscriber.watch.notify, s.subscriber.end, s.recheck, s.flush})
}

// catchUp writes the events of a home that the client missed, up to those that are delivered to the stream.
func (s *watchStream) catchUp(ctx context.Context, home region.Code, missed *replay) error {
	to := receiver{
		includes: func(c *subscriber) bool { return c == s.subscriber },
		push:     func(_ *subscriber, f watchFrame) { s.write(f) },
		admit:    missed.admit,
	}
	for s.at[home] < s.upTo[home] {
		var found []store.LoggedEvent
		reads := s.hub.Store.NewReadBatch()
		reads.Events(store.EventSpan{Home: home, After: s.at[home], To: s.upTo[home], Limit: catchUpPage}, &found)
		if err := reads.Run(ctx); err != nil {
			return err
		}
		for _, e := range found {
			if err := s.hub.broker.deliverTo(ctx, home, e, to); err != nil || s.out.err != nil {
				return err
			}
		}
		if len(found) < catchUpPage {
			s.at[home] = s.upTo[home]
		} else {
			s.at[home] = found[len(found)-1].Seq
		}
	}
	return nil
}

// write writes an event, with the position of the stream after it.
func (s *watchStream) write(f watchFrame) {
	s.at[f.home] = f.seq
	s.out.send(fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", s.at, f.name, f.data))
	s.hub.metrics.written.WithLabelValues(f.name).Inc()
}

// recheck ends the stream if its token is no longer valid, and if a home answers that did not when it began: the client resumes with
// the events of the home.
func (s *watchStream) recheck() {
	if _, err := auth.Bearer(s.hub.Issuer, s.request.Header); err != nil {
		s.subscriber.end(endToken)
	}
	for _, home := range s.subscriber.watch.missing() {
		if s.hub.tails[home].isReading() {
			s.subscriber.end(endUnavailable)
		}
	}
}

// flush writes the queued events, and a heartbeat if alive is true. It reports whether the stream has ended.
func (s *watchStream) flush(alive bool) (ended bool) {
	frames, seen, reason := s.subscriber.watch.take()
	for _, f := range frames {
		s.write(f)
	}
	maps.Copy(s.at, seen)
	if reason != "" {
		s.out.end(reason)
		s.hub.metrics.ended.WithLabelValues(reason).Inc()
		return true
	}
	if alive {
		s.out.heartbeat(s.at.String())
	}
	return false
}
