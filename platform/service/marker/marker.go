// Package marker holds how far users have read the message feeds that they belong to.
//
// Two facts make a marker: where the feed stands, which its messages say (Push), and where the user has read to. What is
// unread, and whether it mentions the user, follows from them whenever it is asked for: no count can drift. A feed stands at
// its own home; a user's markers are rows at the user's, where the outbox of the feed's home moves them on. Markers never
// go back, so that it may do so twice and in any order.
//
//	message arrives    last segment up; unread, and mentioned where it mentions the user. Read at once for its author, and
//	                   for users who look at the feed.
//	mark-delivering    delivered up
//	mark-read          read and delivered up
//	reading            read and delivered up to the last segment, and what comes within a minute is read as it comes
//	feed deleted       nothing in it is unread; a channel whose feeds are all deleted is
//	joined a channel   read and delivered up to the last segment before
//	left a channel     as if its feeds were deleted, until the user comes back
//
// Messages of our own subchannels come from the transactions that write them, by the outbox (fanout.go); those of outside message
// stores through Push. Live channels have no markers.
package marker

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements MarkerService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

type answer = plazav1.MarkerAggregate

// selection names what an operation is about: feeds, or all feeds of channels.
type selection struct {
	feeds    []string
	entities []string
}

func (s selection) read(r *store.ReadBatch, userID string, into *[]store.FeedMark) {
	if s.entities != nil {
		r.FeedMarksOf(userID, s.entities, into)
		return
	}
	r.FeedMarks(userID, s.feeds, into)
}

// once is a list without what is named twice; never nil.
func once(list []string) []string {
	return slices.Compact(append([]string{}, slices.Sorted(slices.Values(list))...))
}

// load reads the caller's markers. An administrator has none.
func (s *Service) load(ctx context.Context, selected selection) (*service.Request, []store.FeedMark, error) {
	var marks []store.FeedMark
	r := s.NewRequest(ctx)
	if r.Caller.UserID != "" {
		selected.read(r.ReadBatch, r.Caller.UserID, &marks)
	}
	if err := r.Run(ctx); err != nil {
		return nil, nil, err
	}
	return r, marks, r.RequireUser()
}

// move is how far an operation takes the caller in a feed; the marker stays where it is further.
type move struct{ readTo, deliveredTo int64 }

// changes reports whether the move changes a marker.
func (m move) changes(mark store.FeedMark) bool {
	return min(m.readTo, mark.LastSegment) > mark.ReadTo || min(m.deliveredTo, mark.LastSegment) > mark.DeliveredTo
}

// advance moves the caller on in the selected feeds, tells them, and answers with what they have not read then. A selection
// of which the caller has nothing is 400400.
func (s *Service) advance(ctx context.Context, selected selection, to func(store.FeedMark) move, reading *until) (*answer, error) {
	r, marks, err := s.load(ctx, selected)
	if err != nil {
		return nil, err
	}
	user := r.User()
	if marks, err = s.upToDate(ctx, user.ID, selected, marks, to); err != nil {
		return nil, err
	}
	if len(marks) == 0 {
		return nil, fail.NotFound()
	}
	tx := s.Store.NewTx(service.HomeOf(user.ID))
	outboxRows, err := s.write(ctx, tx, user.ID, marks, to, reading)
	if err != nil {
		return nil, err
	}
	s.Outbox.DeliverSoon(ctx, tx.Home(), outboxRows...)
	return s.answer(ctx, *user, feedsOf(marks), entitiesOf(marks))
}

// write moves markers in one transaction; nothing is written where nothing changes.
func (s *Service) write(ctx context.Context, tx *store.Tx, userID string, marks []store.FeedMark, to func(store.FeedMark) move, reading *until) ([]store.OutboxRow, error) {
	now := s.Now()
	var moved []store.FeedMark
	for _, mark := range marks {
		if m := to(mark); m.changes(mark) {
			moved = append(moved, mark)
			tx.ReadFeed(userID, mark.FeedID, m.readTo, m.deliveredTo, now)
		}
		if reading != nil {
			tx.Reading(userID, mark.FeedID, reading.time)
		}
	}
	var outboxRows []store.OutboxRow
	if len(moved) > 0 {
		changed := events.ChangedMarkers{FeedIDs: feedsOf(moved), EntityIDs: entitiesOf(moved)}
		outboxRows = append(outboxRows, events.MarkersChanged(tx, userID, changed, now))
	}
	if len(moved) == 0 && reading == nil {
		return nil, nil
	}
	return outboxRows, tx.Commit(ctx)
}

// until is when the caller will have looked away from a feed; nil for now.
type until struct{ time *time.Time }

func feedsOf(marks []store.FeedMark) []string {
	ids := make([]string, len(marks))
	for i, m := range marks {
		ids[i] = m.FeedID
	}
	return once(ids)
}

func entitiesOf(marks []store.FeedMark) []string {
	ids := make([]string, len(marks))
	for i, m := range marks {
		ids[i] = m.EntityID
	}
	return once(ids)
}

// answer reads markers as they stand.
func (s *Service) answer(ctx context.Context, user store.User, feeds, entities []string) (*answer, error) {
	var m view.Markers
	reads := s.Store.NewReadBatch()
	reads.FeedMarks(user.ID, feeds, &m.Feeds)
	reads.EntityMarks(user.ID, entities, &m.Entities)
	reads.UserMark(user.ID, &m.User)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	return s.View.Markers(user, m), nil
}
