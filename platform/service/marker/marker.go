// Package marker implements MarkerService: how far users have read message feeds.
//
// A marker has two positions: the last segment of the feed, and the segment that the user has read to. Whether there
// are unread messages, and whether they mention the user, is computed from these, so no counter can drift. A marker
// is stored at the home of its user, where the outbox of the feed's home updates it. Markers never move backward, so
// events may be delivered repeatedly and in any order.
//
//	event              effect on the marker
//	message            last segment up; unread, and mentioned if the message mentions the user. Read for its author,
//	                   and for users who are reading the feed
//	mark-delivering    delivered up
//	mark-read          read and delivered up
//	reading            read and delivered up to the last segment; messages of the next minute are read on arrival
//	feed deleted       nothing is unread; a channel counts as deleted if all its feeds are
//	channel joined     read and delivered up to the last segment before the user joined
//	channel left       as if the feeds of the channel were deleted, until the user joins again
//
// Events for messages of Plaza's own subchannels are written by the transactions that create the messages
// (fanout.go). Messages of external message stores arrive through Push. Live channels have no markers.
package marker

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements MarkerService.
type Service struct{ *service.Deps }

// New returns the service.
func New(d *service.Deps) *Service { return &Service{d} }

// selection selects feeds, or all feeds of channels if entities is not nil.
type selection struct {
	feeds    []string
	entities []string
}

func (s selection) read(r *store.ReadBatch, userID string, into *[]messaging.FeedMarker) {
	if s.entities != nil {
		r.FeedMarkersOfEntities(userID, s.entities, into)
		return
	}
	r.FeedMarkers(userID, s.feeds, into)
}

// load reads the caller's markers. Administrators have none.
func (s *Service) load(ctx context.Context, selected selection) (*service.Request, []messaging.FeedMarker, error) {
	var marks []messaging.FeedMarker
	r := s.NewUserRequest(ctx)
	selected.read(r.ReadBatch, r.Caller.UserID, &marks)
	err := r.Run(ctx)
	return r, marks, err
}

// move is the position that an operation moves a marker to. Markers never move backward.
type move struct{ readTo, deliveredTo int64 }

// changes reports whether the move changes a marker.
func (m move) changes(mark messaging.FeedMarker) bool {
	return min(m.readTo, mark.LastSegment) > mark.ReadTo || min(m.deliveredTo, mark.LastSegment) > mark.DeliveredTo
}

// advance moves the caller's markers of the selected feeds and notifies the caller. It returns the markers. If the
// caller has no markers of the selection, the result is 400400.
func (s *Service) advance(ctx context.Context, selected selection, to func(messaging.FeedMarker) move,
	reading *readingUntil,
) (*plazav1.MarkerResponse, error) {
	r, marks, err := s.load(ctx, selected)
	if err != nil {
		return nil, err
	}
	user := r.User()
	if marks, err = s.moveMarkers(ctx, user.ID, selected, marks, to, reading); err != nil {
		return nil, err
	}
	if len(marks) == 0 {
		return nil, fail.NotFound()
	}
	return s.respond(ctx, *user, feedsOf(marks), entitiesOf(marks))
}

// moveMarkers catches up with the feeds of a selection, moves its markers and notifies their user. It returns the
// markers.
func (s *Service) moveMarkers(ctx context.Context, userID string, selected selection, marks []messaging.FeedMarker,
	to func(messaging.FeedMarker) move,
	reading *readingUntil,
) ([]messaging.FeedMarker, error) {
	marks, err := s.catchUp(ctx, userID, selected, marks, to)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	tx := s.Store.NewTx(s.HomeOf(userID))
	var moved []messaging.FeedMarker
	for _, mark := range marks {
		if m := to(mark); m.changes(mark) {
			moved = append(moved, mark)
			tx.UpdateReadPosition(userID, mark.FeedID, m.readTo, m.deliveredTo, now)
		}
		if reading != nil {
			tx.UpdateReadingUntil(userID, mark.FeedID, reading.time)
		}
	}
	name := events.MarkerUserSync
	if len(moved) == 0 {
		if reading == nil || len(marks) == 0 {
			return marks, nil
		}
		name = ""
	}
	return marks, s.CommitChange(ctx, tx, name, s.MarkersChange(userID, feedsOf(moved), entitiesOf(moved)))
}

// readingUntil is when the caller stops reading a feed; a nil time means now.
type readingUntil struct{ time *time.Time }

func feedsOf(marks []messaging.FeedMarker) []string {
	return service.SortedSet(service.Map(marks, func(m messaging.FeedMarker) string { return m.FeedID }))
}

func entitiesOf(marks []messaging.FeedMarker) []string {
	return service.SortedSet(service.Map(marks, func(m messaging.FeedMarker) string { return m.EntityID }))
}

// respond reads and returns markers.
func (s *Service) respond(ctx context.Context, user people.User, feeds, entities []string) (*plazav1.MarkerResponse, error) {
	var m view.Markers
	reads := s.Store.NewReadBatch()
	reads.FeedMarkers(user.ID, feeds, &m.Feeds)
	reads.EntityMarkers(user.ID, entities, &m.Entities)
	reads.UserMarker(user.ID, &m.User)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	return s.View.Markers(user, m), nil
}
