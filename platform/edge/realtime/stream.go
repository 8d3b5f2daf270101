package realtime

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/eventlog"
)

const (
	// heartbeat is the interval between heartbeats.
	heartbeat = 15 * time.Second
	// catchUpPage is the number of missed events read per query.
	catchUpPage = 100
	// maxCatchUp is the maximum number of events in the log of a home after which a stream of topics resumes. After more, clients reload
	// their data.
	maxCatchUp = 10_000
)

// stream is the state of one response.
type stream struct {
	hub        *Hub
	request    *http.Request
	name       string
	contract   string        // see watch
	homes      []region.Code // whose logs have events of the stream
	out        *writer
	subscriber *subscriber
	topics     []string
	wanted     positions                          // of the client's last event; nil for a new stream
	heads      map[region.Code]eventlog.EventHead // of the homes that answered; nil for a new stream
	at         positions                          // after the events that were written
	upTo       positions                          // where the events begin that are delivered to the stream
	reset      bool                               // a position requested by the client is not available
	replayed   int                                // missed events that were delivered
}

// admit authenticates the client, decides which events it receives, and counts the stream until release is called.
func (s *stream) admit(ctx context.Context) (release func(), err error) {
	claims, err := auth.BearerClaims(s.hub.Issuer, s.request.Header)
	if err != nil {
		return nil, err
	}
	caller := auth.CallerOf(claims)
	ctx, cancel := context.WithTimeout(auth.WithCaller(ctx, caller), s.hub.limits().Admission)
	defer cancel()
	request := s.hub.NewRequest(ctx)
	if s.contract != events.CommunityUserAdded {
		request.Check(request.RequireUser)
	}
	if err := request.Run(ctx); err != nil {
		return nil, err
	}
	owner := cmp.Or(caller.UserID, "admin "+caller.Name)
	if err := s.hub.enter(owner); err != nil { // before the topics are checked, which reads rows for each of them
		return nil, err
	}
	if err := s.parse(ctx, claims); err != nil {
		s.hub.exit(owner)
		return nil, err
	}
	s.hub.broker.addWatch(s.subscriber, s.topics)
	s.hub.position(ctx, s.homes)
	s.readHeads(ctx)
	return func() {
		s.hub.broker.removeWatch(s.subscriber, s.topics)
		s.hub.exit(owner)
	}, nil
}

// parse reads what the client asks for.
func (s *stream) parse(ctx context.Context, claims auth.Claims) (err error) {
	if s.wanted, err = parsePositions(s.request.Header.Get("Last-Event-Id")); err != nil {
		return err
	}
	query := s.request.URL.Query()
	wanted, err := namesOf(s.name, query)
	if err != nil {
		return err
	}
	w := newWatch(wanted, s.hub.QueueLength)
	w.contract = s.contract
	s.subscriber = newWatchSubscriber(s.hub, claims, w)
	switch s.contract {
	case events.MarkerUserSync:
		s.topics = s.hub.MarkersChange(claims.UserID, nil, nil).Topics
	case events.CommunityUserAdded:
		w.names[communityJoined] = true
	}
	if s.contract != "" {
		s.homes = []region.Code{s.subscriber.home}
		return nil
	}
	if s.topics, err = s.hub.broker.topicsOf(ctx, s.subscriber, query["topic"]); err != nil {
		s.subscriber.expiry.Stop()
	}
	return err
}

// readHeads reads the ends of the logs, which a stream needs that resumes. The home that does not answer has none.
func (s *stream) readHeads(ctx context.Context) {
	if s.wanted == nil {
		return
	}
	reads := s.hub.Store.NewBestEffortBatch()
	heads := map[region.Code]*eventlog.EventHead{}
	for _, home := range s.homes {
		heads[home] = &eventlog.EventHead{}
		reads.EventHead(home, heads[home])
	}
	s.heads = map[region.Code]eventlog.EventHead{}
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
func (s *stream) begin() {
	for _, home := range s.homes {
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
		if at < 0 || s.contract == "" && upTo-at > maxCatchUp {
			at, s.reset = upTo, s.reset || s.wanted != nil
		}
		s.at[home], s.upTo[home] = at, upTo
	}
}

// run writes the stream to its end.
func (s *stream) run(ctx context.Context) {
	s.begin()
	s.out.begin(s.at.String(), s.reset)
	replaying, stop := s.hub.asUserUntil(ctx, s.subscriber.ending, s.subscriber.UserID())
	defer stop()
	for _, home := range s.upTo.homes() {
		if err := s.catchUp(replaying, home); err != nil || s.out.err != nil {
			if replaying.Err() == nil && err != nil {
				s.hub.Log.WarnContext(ctx, "stream ended", "event", s.name, "error", err)
			}
			s.interrupted()
			return // the client will resume from there
		}
	}
	s.follow(ctx)
}

// interrupted ends a stream whose missed events were not all written, for the reason for which it ended, if any: the client resumes
// after the last event that was written.
func (s *stream) interrupted() {
	_, _, reason := s.subscriber.watch.take()
	select {
	case <-s.hub.closing:
		reason = cmp.Or(reason, endShutdown)
	default:
	}
	if reason != "" {
		s.end(reason)
	}
}

// end writes the last event.
func (s *stream) end(reason string) {
	s.out.end(reason)
	s.hub.metrics.ended.WithLabelValues(reason).Inc()
}

// replayedPerRequest is the number of events of a stream that resumes which count as one request of the rate limit of users.
const replayedPerRequest = 5

// admitReplay counts an event that the stream has missed, since each of them makes the server read. It waits until the rate limit of the
// user allows it.
func (s *stream) admitReplay(ctx context.Context) error {
	s.replayed++
	if s.replayed%replayedPerRequest != 1 || defence.Off(defence.ReplayRate) {
		return nil
	}
	return s.hub.Limits.AwaitSpare(ctx, s.subscriber.caller)
}

// catchUp writes the events of a home that the client missed, up to those that are delivered to the stream.
func (s *stream) catchUp(ctx context.Context, home region.Code) error {
	to := receiver{
		includes: func(c *subscriber) bool { return c == s.subscriber },
		push:     func(_ *subscriber, f watchFrame) { s.write(f) },
		admit:    s.admitReplay,
	}
	for s.at[home] < s.upTo[home] {
		found, err := s.missed(ctx, eventlog.EventSpan{Home: home, After: s.at[home], To: s.upTo[home], Limit: catchUpPage})
		if err != nil {
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

// missed reads the events of a part of a log that may concern the client.
func (s *stream) missed(ctx context.Context, span eventlog.EventSpan) (found []eventlog.LoggedEvent, err error) {
	topics := []string{s.subscriber.userID}
	if s.contract == events.CommunityUserAdded && !s.subscriber.admin {
		reads := s.hub.Store.NewReadBatch()
		reads.CommunitiesOfUser(s.subscriber.userID, &topics)
		if err := reads.Run(ctx); err != nil {
			return nil, err
		}
	}
	reads := s.hub.Store.NewReadBatch()
	if s.contract == "" || s.subscriber.admin {
		reads.Events(span, &found)
	} else {
		reads.EventsOfTopics(span, topics, &found)
	}
	err = reads.Run(ctx)
	return found, err
}

// write writes an event, with the position of the stream after it.
func (s *stream) write(f watchFrame) {
	s.at[f.home] = f.seq
	s.out.send(fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", s.at, f.name, f.data))
	s.hub.metrics.written.WithLabelValues(f.name).Inc()
}

// follow writes the events that are delivered to the stream, until it ends.
func (s *stream) follow(ctx context.Context) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for s.out.err == nil {
		alive := false
		select {
		case <-ctx.Done():
			return
		case <-s.subscriber.notify:
		case <-s.hub.closing:
			s.subscriber.end(endShutdown)
		case <-beat.C:
			alive = true
			s.recheck()
		}
		if s.flush(alive) {
			return
		}
	}
}

// recheck ends the stream if its token is no longer valid, and if a home answers that did not when it began: the client resumes with
// the events of the home.
func (s *stream) recheck() {
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
func (s *stream) flush(alive bool) (ended bool) {
	frames, seen, reason := s.subscriber.watch.take()
	for _, f := range frames {
		s.write(f)
	}
	maps.Copy(s.at, seen)
	if reason != "" {
		s.end(reason)
		return true
	}
	if alive {
		s.out.heartbeat(s.at.String())
	}
	return false
}
