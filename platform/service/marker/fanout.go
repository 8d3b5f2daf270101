package marker

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
)

// This file updates the markers of channel members for messages of Plaza's own subchannels. Messages of external
// message stores arrive through Push.

// membersPerBatch is how many markers one transaction updates.
const membersPerBatch = 100

// fanOut updates the markers of the members of a channel whose ids contain one home from the subchannel, in batches, and notifies users
// whose markers changed. It uses the current state of the subchannel rather than its state after the message: if
// several messages arrive together, the first event does the work and the others find nothing to do. It is
// idempotent, and skips finished batches when it is retried.
func (s *Service) fanOut(ctx context.Context, m events.MessageCreated) error {
	after, end := idBounds(m.Home)
	for {
		var feed *store.MessageFeed
		var message *store.Message
		var members []store.ChannelUser
		reads := s.Store.NewReadBatch()
		reads.MessageFeed(m.FeedID, &feed)
		reads.Message(m.MessageID, &message)
		reads.ChannelUsersAfter(m.ChannelID, after, membersPerBatch, &members)
		if err := reads.Run(ctx); err != nil {
			return err
		}
		full := len(members) == membersPerBatch
		members = slices.DeleteFunc(members, func(u store.ChannelUser) bool { return u.UserID >= end })
		if feed == nil || feed.DeletedAt != nil || len(members) == 0 {
			return nil
		}
		for home, part := range s.byHome(members) {
			if err := s.advanceMembers(ctx, home, *feed, contentOf(message), part); err != nil {
				return err
			}
		}
		if !full {
			return nil
		}
		after = members[len(members)-1].UserID
	}
}

// byHome groups users by the homes of their markers.
func (s *Service) byHome(users []store.ChannelUser) map[region.Code][]store.ChannelUser {
	groups := map[region.Code][]store.ChannelUser{}
	for _, u := range users {
		home := s.HomeOf(u.UserID)
		groups[home] = append(groups[home], u)
	}
	return groups
}

// idBounds returns bounds of the ids of a home: all of them are greater than after and less than end.
func idBounds(home region.Code) (after, end string) {
	after = region.FixedID(home)[:2]
	return after, after + "g"
}

// content is the part of a message that matters to markers.
type content struct {
	segment     int64
	creatorID   string
	mentioned   map[string]bool // internal ids
	mentionsAll bool
}

// contentOf returns the content of a message. A message that was purged, which is nil, has none.
func contentOf(m *store.Message) content {
	c := content{mentioned: map[string]bool{}}
	if m == nil {
		return c
	}
	c.segment, c.creatorID = m.Segment, m.CreatorID
	for _, mention := range view.MessageMentions(m.Mentions) {
		c.mentionsAll = c.mentionsAll || mention.Type == view.MentionChannel
		for _, id := range mention.UserIDs {
			c.mentioned[id] = true
		}
	}
	return c
}

// mentions reports whether the message mentions a user other than its author.
func (c content) mentions(userID string) bool {
	return userID != c.creatorID && (c.mentionsAll || c.mentioned[userID])
}

// advanceMembers updates the markers of members of one home in one transaction.
func (s *Service) advanceMembers(ctx context.Context, home region.Code, feed store.MessageFeed, message content, members []store.ChannelUser) error {
	now := s.Now()
	return s.updateMarkers(ctx, home, feed, members, func(tx *store.Tx, u store.ChannelUser, mark *store.FeedMarker, move store.MarkerMove) bool {
		if u.UserID == message.creatorID {
			move.ReadTo = max(move.ReadTo, message.segment)
		}
		if message.mentions(u.UserID) {
			move.LastMention = message.segment
		}
		if move.ReadNew = move.ReadTo; mark != nil && !moves(move, *mark) {
			return false
		}
		tx.MoveFeedMarker(move, now)
		return true
	})
}

// updateMarkers updates the markers of users of one home for a feed in one transaction, and notifies users whose markers
// changed. update adds the change of one marker, which is nil if there is none, and reports whether there is a change.
// It gets the move of the marker to the end of the feed, with the messages from before the user joined as read.
func (s *Service) updateMarkers(ctx context.Context, home region.Code, feed store.MessageFeed, users []store.ChannelUser,
	update func(tx *store.Tx, u store.ChannelUser, mark *store.FeedMarker, move store.MarkerMove) bool,
) error {
	marks, read, err := s.marksOf(ctx, feed, home, users)
	if err != nil {
		return err
	}
	tx := s.Store.NewTx(home)
	var outboxRows []store.OutboxRow
	for _, u := range users {
		move := store.MarkerMove{
			UserID: u.UserID, FeedID: feed.ID, EntityID: feed.EntityID, LastSegment: feed.LastSegment,
			ReadNew: read[u.UserID], ReadTo: read[u.UserID],
		}
		if update(tx, u, marks[u.UserID], move) {
			outboxRows = append(outboxRows, emitMarkersChanged(tx, u.UserID, feed.ID, feed.EntityID, s.Now()))
		}
	}
	return s.commit(ctx, tx, outboxRows)
}

// moves reports whether a move changes a marker.
func moves(move store.MarkerMove, mark store.FeedMarker) bool {
	return move.LastSegment > mark.LastSegment || move.LastMention > mark.LastMention || move.ReadTo > mark.ReadTo
}

// marksOf reads the markers of users of one home for a feed and, for users who joined after their marker was last
// updated, the last segment before they joined: users have read all earlier messages.
func (s *Service) marksOf(ctx context.Context, feed store.MessageFeed, home region.Code, members []store.ChannelUser) (map[string]*store.FeedMarker, map[string]int64, error) {
	ids := service.Map(members, func(u store.ChannelUser) string { return u.UserID })
	var found []store.FeedMarker
	reads := s.Store.NewReadBatch()
	reads.FeedMarkersOfUsers(home, feed.ID, ids, &found)
	if err := reads.Run(ctx); err != nil {
		return nil, nil, err
	}
	marks := make(map[string]*store.FeedMarker, len(found))
	for i, m := range found {
		marks[m.UserID] = &found[i]
	}
	var joined []string
	var times []time.Time
	for _, u := range members {
		if mark := marks[u.UserID]; u.IsMember() && (mark == nil || mark.UpdatedAt.Before(u.JoinedAt)) {
			joined, times = append(joined, u.UserID), append(times, u.JoinedAt)
		}
	}
	var segments []int64
	reads = s.Store.NewReadBatch()
	reads.SegmentsBefore(feed.ID, times, &segments)
	if err := reads.Run(ctx); err != nil {
		return nil, nil, err
	}
	read := make(map[string]int64, len(joined))
	for i, id := range joined {
		read[id] = segments[i]
	}
	return marks, read, nil
}

// feedsPerBatch is how many subchannels followMembers reads at a time.
const feedsPerBatch = 100

// followMembers updates the markers of users after they joined or left a channel, according to their current
// membership: members have read all messages from before they joined, and others have no unread messages.
func (s *Service) followMembers(ctx context.Context, c events.MembershipChanged) error {
	list := store.MessageFeedList{ChannelID: c.ChannelID, Deleted: store.DeletedNone, Limit: feedsPerBatch}
	for {
		var feeds []store.MessageFeed
		var users []store.ChannelUser
		reads := s.Store.NewReadBatch()
		reads.ListMessageFeeds(list, &feeds)
		reads.ChannelUsers(c.ChannelID, c.UserIDs, &users)
		if err := reads.Run(ctx); err != nil {
			return err
		}
		for _, feed := range feeds {
			if feed.ChannelType == store.ChannelLive { // no markers
				return nil
			}
			for home, part := range s.byHome(users) {
				if err := s.followFeed(ctx, feed, home, part); err != nil {
					return err
				}
			}
		}
		if len(feeds) < feedsPerBatch {
			return nil
		}
		list.After, list.AfterID = feeds[len(feeds)-1].LastMessageAt, feeds[len(feeds)-1].ID
	}
}

// followFeed is followMembers for one subchannel and users of one home.
func (s *Service) followFeed(ctx context.Context, feed store.MessageFeed, home region.Code, users []store.ChannelUser) error {
	now := s.Now()
	return s.updateMarkers(ctx, home, feed, users, func(tx *store.Tx, u store.ChannelUser, mark *store.FeedMarker, move store.MarkerMove) bool {
		switch {
		case !u.IsMember() && mark != nil && !mark.IsDeleted:
			tx.DeleteFeedMarker(u.UserID, feed.ID, now)
		case u.IsMember() && (mark != nil && (mark.IsDeleted || moves(move, *mark)) || mark == nil && feed.LastSegment > 0):
			tx.RestoreFeedMarker(u.UserID, feed.ID, now)
			tx.MoveFeedMarker(move, now)
		default:
			return false
		}
		return true
	})
}
