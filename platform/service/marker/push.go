package marker

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func timestamp(t time.Time) *timestamppb.Timestamp { return timestamppb.New(t) }

// Message is a message of a feed, as whatever keeps messages tells the markers of it. Ids of users are internal.
type Message struct {
	store.FeedSegment
	Recipients []string // who belongs to the feed
	Mentioned  []string // those of them whom it mentions
}

// Pusher is how whatever keeps messages moves the markers on. Service is one.
type Pusher interface {
	// Push tells of a message. It may come again, and after later ones. A deleted feed is 400400; another channel than the
	// feed's is 400000, and so is a subchannel of our own, whose messages give the segments.
	Push(ctx context.Context, m Message) (*store.MessageFeed, error)
	// DeleteFeed tells that a feed is deleted; one that is not there is 400400.
	DeleteFeed(ctx context.Context, feedID string) (*store.MessageFeed, error)
}

var _ Pusher = (*Service)(nil)

// recipientsOfRow bounds the users of one outbox row.
const recipientsOfRow = 100

// Register makes the outbox move the markers of users on.
func Register(d *service.Deps) {
	s := New(d)
	d.Outbox.Handle(events.TopicFeedMarkers, handler(func(ctx context.Context, news events.FeedNews) error {
		if news.Deleted {
			return s.endMarks(ctx, news)
		}
		return s.advanceMarks(ctx, news)
	}))
	d.Outbox.Handle(events.TopicMessage, handler(s.fanOut))
	d.Outbox.Handle(events.TopicChannelMembers, handler(s.followMembers))
}

// handler reads the payload of an outbox row.
func handler[T any](take func(context.Context, T) error) events.Handler {
	return func(ctx context.Context, row store.OutboxRow) error {
		var payload T
		if err := json.Unmarshal(row.Payload, &payload); err != nil {
			return err
		}
		return take(ctx, payload)
	}
}

// Push tells of a message.
func (s *Service) Push(ctx context.Context, m Message) (*store.MessageFeed, error) {
	home, err := region.HomeOf(m.FeedID)
	if err != nil {
		return nil, fail.NotFound()
	}
	var feed *store.MessageFeed
	reads := s.Store.NewReadBatch()
	reads.MessageFeed(m.FeedID, &feed)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	if feed != nil && (feed.IsOwn || feed.EntityID != m.EntityID) {
		return nil, fail.BadRequest()
	}
	now := s.Now()
	tx := s.Store.NewTx(home)
	tx.AdvanceFeed(m.FeedSegment, now, fail.NotFound())
	outboxRows := s.send(tx, m, now)
	tx.SelectMessageFeed(m.FeedID, &feed)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	s.Outbox.Deliver(ctx, home, outboxRows...)
	return feed, nil
}

// send leaves the message in the outbox, for the users of each home.
func (s *Service) send(tx *store.Tx, m Message, now time.Time) []store.OutboxRow {
	byHome := map[region.Code][]store.MarkAdvance{}
	for _, id := range once(m.Recipients) {
		if home, err := region.HomeOf(id); err == nil {
			byHome[home] = append(byHome[home], store.MarkAdvance{
				UserID: id, Mentioned: slices.Contains(m.Mentioned, id), Author: id == m.CreatorID,
			})
		}
	}
	var outboxRows []store.OutboxRow
	for _, home := range region.All() {
		for part := range slices.Chunk(byHome[home], recipientsOfRow) {
			outboxRows = append(outboxRows, events.FeedTold(tx, events.FeedNews{Home: home, Segment: m.FeedSegment, Users: part, At: now}))
		}
	}
	return outboxRows
}

// DeleteFeed tells that a feed is deleted.
func (s *Service) DeleteFeed(ctx context.Context, feedID string) (*store.MessageFeed, error) {
	home, err := region.HomeOf(feedID)
	if err != nil {
		return nil, fail.NotFound()
	}
	now := s.Now()
	var feed *store.MessageFeed
	tx := s.Store.NewTx(home)
	tx.DeleteFeed(feedID, now, fail.NotFound())
	outboxRows := events.FeedDeleted(tx, feedID, now)
	tx.SelectMessageFeed(feedID, &feed)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	s.Outbox.Deliver(ctx, home, outboxRows...)
	return feed, nil
}

// advanceMarks moves the markers of a home's users to a message, and tells those for whom that changed something.
func (s *Service) advanceMarks(ctx context.Context, news events.FeedNews) error {
	ids := make([]string, len(news.Users))
	for i, u := range news.Users {
		ids[i] = u.UserID
	}
	var marks []store.FeedMark
	reads := s.Store.NewReadBatch()
	reads.FeedMarksOfUsers(news.Home, news.Segment.FeedID, ids, &marks)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	tx := s.Store.NewTx(news.Home)
	var outboxRows []store.OutboxRow
	for _, u := range news.Users {
		i := slices.IndexFunc(marks, func(m store.FeedMark) bool { return m.UserID == u.UserID })
		if i >= 0 && !newsFor(news, marks[i], u) {
			continue
		}
		tx.AdvanceFeedMark(u, news.Segment, news.At)
		outboxRows = append(outboxRows, s.tell(tx, u.UserID, news.Segment.FeedID, news.Segment.EntityID, news.At))
	}
	return s.commit(ctx, tx, outboxRows)
}

// newsFor reports whether the message is news for a marker.
func newsFor(n events.FeedNews, mark store.FeedMark, u store.MarkAdvance) bool {
	segment := n.Segment.Segment
	return segment > mark.LastSegment || u.Mentioned && segment > mark.LastMention || u.Author && segment > mark.ReadTo
}

func (s *Service) tell(tx *store.Tx, userID, feedID, entityID string, now time.Time) store.OutboxRow {
	return events.MarkersChanged(tx, userID, events.ChangedMarkers{FeedIDs: []string{feedID}, EntityIDs: []string{entityID}}, now)
}

func (s *Service) commit(ctx context.Context, tx *store.Tx, outboxRows []store.OutboxRow) error {
	if len(outboxRows) == 0 {
		return nil
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	s.Outbox.DeliverSoon(ctx, tx.Home(), outboxRows...)
	return nil
}

// endMarks tells the markers of a home's users that their feed is deleted, some hundred at a time.
func (s *Service) endMarks(ctx context.Context, news events.FeedNews) error {
	for {
		var marks []store.FeedMark
		reads := s.Store.NewReadBatch()
		reads.LiveMarksOfFeed(news.Home, news.Segment.FeedID, recipientsOfRow, &marks)
		if err := reads.Run(ctx); err != nil || len(marks) == 0 {
			return err
		}
		tx := s.Store.NewTx(news.Home)
		var outboxRows []store.OutboxRow
		for _, m := range marks {
			tx.DeleteFeedMark(m.UserID, m.FeedID, news.At)
			outboxRows = append(outboxRows, s.tell(tx, m.UserID, m.FeedID, m.EntityID, news.At))
		}
		if err := s.commit(ctx, tx, outboxRows); err != nil {
			return err
		}
	}
}

// PushSegment tells of a message in a feed; for administrators.
func (s *Service) PushSegment(ctx context.Context, req *plazav1.PushSegmentRequest) (*plazav1.PushSegmentResponse, error) {
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
		internal := make([]string, len(publicIDs))
		for i, id := range publicIDs {
			internal[i] = found[id]
		}
		return internal
	}
	if slices.Contains(ids(all), "") {
		return nil, fail.NotFound()
	}
	feed, err := s.Push(ctx, Message{
		FeedSegment: store.FeedSegment{
			FeedID: req.GetMessageFeedId(), EntityID: req.GetEntityId(), MessageID: req.GetMessageId(),
			Segment: int64(req.GetSegment()), CreatorID: found[req.GetCreatorId()],
		},
		Recipients: ids(req.GetUserIds()), Mentioned: ids(req.GetMentionedUserIds()),
	})
	return s.feed(feed, err)
}

// DeleteMessageFeed marks a feed of an outside message store deleted for those who belong to it; for administrators.
func (s *Service) DeleteMessageFeed(ctx context.Context, req *plazav1.DeleteMessageFeedRequest) (*plazav1.PushSegmentResponse, error) {
	var there *store.MessageFeed
	r := s.NewRequest(ctx)
	r.MessageFeed(req.GetMessageFeedId(), &there)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if there != nil && there.IsOwn {
		return nil, fail.BadRequest()
	}
	feed, err := s.DeleteFeed(ctx, req.GetMessageFeedId())
	return s.feed(feed, err)
}

func (s *Service) feed(feed *store.MessageFeed, err error) (*plazav1.PushSegmentResponse, error) {
	if err != nil {
		return nil, err
	}
	return &plazav1.PushSegmentResponse{FeedMarkers: []*plazav1.FeedMarker{s.View.FeedMarker(*feed)}}, nil
}
