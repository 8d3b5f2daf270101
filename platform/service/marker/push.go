package marker

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Message is a message of an external message store. Ids of users are internal.
type Message struct {
	messaging.FeedSegment
	Recipients []string // users of the feed
	Mentioned  []string // recipients whom the message mentions
}

// maxRowUsers is the maximum number of users in one outbox row.
const maxRowUsers = 100

// Register registers the outbox handlers that update the markers of users.
func Register(d *service.Deps) {
	s := New(d)
	service.HandleOutbox(d, events.TopicFeedMarkers, func(ctx context.Context, update events.FeedUpdate) error {
		if update.Deleted {
			return s.deleteMarks(ctx, update)
		}
		return s.advanceMarks(ctx, update)
	})
	fanOuts := newFanOuts(s.fanOut)
	service.HandleOutbox(d, events.TopicMessages,
		func(ctx context.Context, m events.MessagesCreated) error { return s.deliver(ctx, fanOuts, m) })
	service.HandleOutbox(d, events.TopicChannelMembers, s.followMembers)
}

// Push updates markers for a message of an external message store. Calls are idempotent and may arrive in any order.
// A deleted feed is 400400. A channel other than that of the feed is 400000, and so is one of Plaza's own
// subchannels.
func (s *Service) Push(ctx context.Context, m Message) (*messaging.MessageFeed, error) {
	home, err := s.Store.HomeOf(m.FeedID)
	if err != nil {
		return nil, fail.NotFound()
	}
	feed, err := service.Read(ctx, s.Deps, (*store.ReadBatch).MessageFeed, m.FeedID)
	if err != nil {
		return nil, err
	}
	if feed != nil && (feed.IsOwn || feed.EntityID != m.EntityID) {
		return nil, fail.BadRequest()
	}
	now := s.Now()
	tx := s.Store.NewTx(home)
	tx.AdvanceMessageFeed(m.FeedSegment, now, fail.NotFound())
	outboxRows := emitMessage(tx, m, now)
	tx.SelectMessageFeed(m.FeedID, &feed)
	err = s.Commit(ctx, tx, outboxRows...)
	return feed, err
}

// emitMessage adds the events that update the markers of the recipients at each home.
func emitMessage(tx *store.Tx, m Message, now time.Time) []core.OutboxRow {
	byHome := map[region.Code][]messaging.MarkerAdvance{}
	for _, id := range service.SortedSet(m.Recipients) {
		if home, err := tx.HomeOf(id); err == nil {
			byHome[home] = append(byHome[home], messaging.MarkerAdvance{
				UserID: id, Mentioned: slices.Contains(m.Mentioned, id), Author: id == m.CreatorID,
			})
		}
	}
	var outboxRows []core.OutboxRow
	for _, home := range region.All() {
		for part := range slices.Chunk(byHome[home], maxRowUsers) {
			outboxRows = append(outboxRows, events.EmitFeedUpdate(tx, events.FeedUpdate{Home: home, Segment: m.FeedSegment, Users: part, At: now}))
		}
	}
	return outboxRows
}

// DeleteFeed deletes the markers of a feed. A feed that does not exist is 400400.
func (s *Service) DeleteFeed(ctx context.Context, feedID string) (*messaging.MessageFeed, error) {
	home, err := s.Store.HomeOf(feedID)
	if err != nil {
		return nil, fail.NotFound()
	}
	now := s.Now()
	var feed *messaging.MessageFeed
	tx := s.Store.NewTx(home)
	tx.DeleteMessageFeed(feedID, now, fail.NotFound())
	outboxRows := events.EmitFeedDeleted(tx, feedID, now)
	tx.SelectMessageFeed(feedID, &feed)
	err = s.Commit(ctx, tx, outboxRows...)
	return feed, err
}

// advanceMarks updates the markers of users for a message, and notifies users whose markers changed. Some of the users
// may have moved to another home since the message.
func (s *Service) advanceMarks(ctx context.Context, update events.FeedUpdate) error {
	for home, users := range byHome(s, update.Users, func(u messaging.MarkerAdvance) string { return u.UserID }) {
		update.Home, update.Users = home, users
		if err := tryAgain(func() error { return s.advanceMarksAt(ctx, update) }); err != nil {
			return err
		}
	}
	return nil
}

// advanceMarksAt is advanceMarks for users of one home.
func (s *Service) advanceMarksAt(ctx context.Context, update events.FeedUpdate) error {
	ids := service.Map(update.Users, func(u messaging.MarkerAdvance) string { return u.UserID })
	var marks []messaging.FeedMarker
	reads := s.Store.NewReadBatch()
	reads.FeedMarkersOfUsers(update.Home, update.Segment.FeedID, ids, &marks)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	segment := update.Segment.Segment
	c := s.newChanges(update.Home, messaging.MarkerMoves{
		FeedID: update.Segment.FeedID, EntityID: update.Segment.EntityID,
		LastSegment: segment,
	},
		update.At)
	for _, u := range update.Users {
		mark := service.Find(marks, func(m messaging.FeedMarker) bool { return m.UserID == u.UserID })
		move := u.MoveTo(segment)
		if mark == nil {
			move.ReadTo = max(move.ReadTo, segment-1) // earlier messages count as read
			c.Inserted = append(c.Inserted, move)
		} else if advances(segment, *mark, u) {
			c.Moved = append(c.Moved, move)
		}
	}
	return c.commit(ctx)
}

// advances reports whether a message with the segment changes a marker.
func advances(segment int64, mark messaging.FeedMarker, u messaging.MarkerAdvance) bool {
	return segment > mark.LastSegment || u.Mentioned && segment > mark.LastMention || u.Author && segment > mark.ReadTo
}

// deleteMarks deletes the markers of users of one home for a deleted feed, and those of users who moved from there.
func (s *Service) deleteMarks(ctx context.Context, update events.FeedUpdate) error {
	homes := []region.Code{update.Home}
	for _, home := range region.All() {
		if s.Store.Routes().Left(update.Home, home) {
			homes = append(homes, home)
		}
	}
	for _, home := range homes {
		update.Home = home
		if err := s.deleteMarksAt(ctx, update); err != nil {
			return err
		}
	}
	return nil
}

// deleteMarksAt deletes the markers of one home, in batches.
func (s *Service) deleteMarksAt(ctx context.Context, update events.FeedUpdate) error {
	for {
		var marks []messaging.FeedMarker
		reads := s.Store.NewReadBatch()
		reads.LiveFeedMarkers(update.Home, update.Segment.FeedID, maxRowUsers, &marks)
		if err := reads.Run(ctx); err != nil || len(marks) == 0 {
			return err
		}
		c := s.newChanges(update.Home, messaging.MarkerMoves{FeedID: update.Segment.FeedID, EntityID: marks[0].EntityID}, update.At)
		c.deleted = service.Map(marks, func(m messaging.FeedMarker) string { return m.UserID })
		if err := c.commit(ctx); err != nil {
			return err
		}
	}
}

// PushSegment updates markers for a message of an external message store. Only administrators may call it.
func (s *Service) PushSegment(ctx context.Context, req *plazav1.PushSegmentRequest) (*plazav1.FeedMarkerResponse, error) {
	r := s.NewRequest(ctx)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	all := slices.Concat(req.GetUserIds(), req.GetMentionedUserIds())
	if req.GetCreatorId() != "" {
		all = append(all, req.GetCreatorId())
	}
	found, err := s.Directory.Resolve(ctx, all...)
	if err != nil {
		return nil, err
	}
	ids := func(publicIDs []string) []string {
		return service.Map(publicIDs, func(id string) string { return found[id] })
	}
	if slices.Contains(ids(all), "") {
		return nil, fail.NotFound()
	}
	feed, err := s.Push(ctx, Message{
		FeedSegment: messaging.FeedSegment{
			FeedID: req.GetMessageFeedId(), EntityID: req.GetEntityId(), MessageID: req.GetMessageId(),
			Segment: int64(req.GetSegment()), CreatorID: found[req.GetCreatorId()],
		},
		Recipients: ids(req.GetUserIds()), Mentioned: ids(req.GetMentionedUserIds()),
	})
	return s.respondFeed(feed, err)
}

// DeleteMessageFeed deletes the markers of a feed of an external message store. Only administrators may call it.
func (s *Service) DeleteMessageFeed(ctx context.Context, req *plazav1.DeleteMessageFeedRequest) (*plazav1.FeedMarkerResponse, error) {
	var existing *messaging.MessageFeed
	r := s.NewRequest(ctx)
	r.MessageFeed(req.GetMessageFeedId(), &existing)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if existing != nil && existing.IsOwn {
		return nil, fail.BadRequest()
	}
	feed, err := s.DeleteFeed(ctx, req.GetMessageFeedId())
	return s.respondFeed(feed, err)
}

func (s *Service) respondFeed(feed *messaging.MessageFeed, err error) (*plazav1.FeedMarkerResponse, error) {
	if err != nil {
		return nil, err
	}
	return &plazav1.FeedMarkerResponse{FeedMarkers: []*plazav1.FeedMarker{s.View.FeedMarker(*feed)}}, nil
}
