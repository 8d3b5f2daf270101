package marker

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/view"
)

// This file updates the markers of channel members for messages of Plaza's own subchannels. Messages of external
// message stores arrive through Push.

// membersPerBatch is how many markers one transaction updates.
const membersPerBatch = 100

// deliver updates the markers of a channel's members for messages. It leaves the homes that fail to an outbox row of
// their own, so that a retry does not repeat the others.
func (s *Service) deliver(ctx context.Context, f *fanOuts, m events.MessagesCreated) error {
	homes := m.Homes
	if len(homes) == 0 {
		homes = region.All()
	}
	call := &fanOutCall{homes: homes, messageIDs: m.MessageIDs}
	if err := f.Add(ctx, fanOutKey{m.ChannelID, m.FeedID}, call); err != nil || len(call.failed) == 0 {
		return err
	}
	if len(call.failed) == len(homes) {
		return errors.Join(slices.Collect(maps.Values(call.failed))...)
	}
	m.Homes = slices.Sorted(maps.Keys(call.failed))
	tx := s.Store.NewTx(s.HomeOf(m.FeedID))
	events.EmitMessagesCreated(tx, m, s.Now())
	return tx.Commit(ctx)
}

// fanOut updates the markers of those members of a channel whose ids contain one of the homes from the subchannel, in
// batches, and notifies users whose markers changed. It uses the current state of the subchannel rather than its state
// after the messages. It is idempotent, and skips finished batches when it is retried. Messages that were purged mention
// no user. failed has the homes whose members it could not update; an unavailable home does not delay the others.
func (s *Service) fanOut(ctx context.Context, f fanOutKey, homes []region.Code, messageIDs []string) (failed map[region.Code]error,
	err error,
) {
	failed = map[region.Code]error{}
	slices.SortFunc(homes, func(a, b region.Code) int { return cmp.Compare(region.FixedID(a), region.FixedID(b)) })
	after, _ := idBounds(homes[0])
	_, end := idBounds(homes[len(homes)-1])
	for {
		var feed *messaging.MessageFeed
		var rows []messaging.Message
		var members []messaging.ChannelUser
		reads := s.Store.NewReadBatch()
		reads.MessageFeed(f.feedID, &feed)
		reads.MessagesByID(messageIDs, &rows)
		reads.ChannelUsersAfter(f.channelID, after, membersPerBatch, &members)
		if err := reads.Run(ctx); err != nil {
			return nil, err
		}
		full := len(members) == membersPerBatch
		members = slices.DeleteFunc(members, func(u messaging.ChannelUser) bool { return u.UserID >= end })
		if feed == nil || feed.DeletedAt != nil || len(members) == 0 {
			return failed, nil
		}
		after = members[len(members)-1].UserID
		s.fanOutTo(ctx, *feed, service.Map(rows, contentOf), members, homes, failed)
		if !full {
			return failed, nil
		}
	}
}

// fanOutTo is fanOut for one batch of members. It adds homes that fail.
func (s *Service) fanOutTo(ctx context.Context, feed messaging.MessageFeed, messages []content, members []messaging.ChannelUser,
	homes []region.Code, failed map[region.Code]error,
) {
	errs := make([]error, len(homes))
	var g sync.WaitGroup // an unavailable home must not delay the others
	for i, inID := range homes {
		after, end := idBounds(inID)
		named := slices.DeleteFunc(slices.Clone(members), func(u messaging.ChannelUser) bool { return u.UserID <= after || u.UserID >= end })
		if failed[inID] != nil || len(named) == 0 {
			continue
		}
		g.Go(func() { errs[i] = s.advanceAll(ctx, feed, messages, named) })
	}
	g.Wait()
	for i, err := range errs {
		if err != nil {
			failed[homes[i]] = err
		}
	}
}

// advanceAll updates the markers of members of any homes.
func (s *Service) advanceAll(ctx context.Context, feed messaging.MessageFeed, messages []content, members []messaging.ChannelUser) error {
	for home, part := range byHome(s, members, idOfUser) {
		if err := s.advanceMembers(ctx, home, feed, messages, part); err != nil {
			return err
		}
	}
	return nil
}

// byHome groups users by the homes of their markers.
func byHome[U any](s *Service, users []U, id func(U) string) map[region.Code][]U {
	groups := map[region.Code][]U{}
	for _, u := range users {
		home := s.HomeOf(id(u))
		groups[home] = append(groups[home], u)
	}
	return groups
}

func idOfUser(u messaging.ChannelUser) string { return u.UserID }

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

func contentOf(m messaging.Message) content {
	c := content{segment: m.Segment, creatorID: m.CreatorID, mentioned: map[string]bool{}}
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
func (s *Service) advanceMembers(ctx context.Context, home region.Code, feed messaging.MessageFeed, messages []content,
	members []messaging.ChannelUser,
) error {
	return s.updateMarkers(ctx, home, feed, members, func(c *changes, u messaging.ChannelUser, mark *messaging.FeedMarker,
		move messaging.MarkerMove,
	) {
		for _, message := range messages {
			if u.UserID == message.creatorID {
				move.ReadTo = max(move.ReadTo, message.segment)
			}
			if message.mentions(u.UserID) {
				move.LastMention = max(move.LastMention, message.segment)
			}
		}
		if mark == nil {
			c.Inserted = append(c.Inserted, move)
		} else if moves(feed.LastSegment, move, *mark) {
			c.Moved = append(c.Moved, move)
		}
	})
}

// updateMarkers updates the markers of users of one home for a feed, and notifies users whose markers changed. update adds
// the change of one marker, if any; the marker is nil if there is none. It gets the move of the marker to the end of the
// feed, with the messages from before the user joined as read.
func (s *Service) updateMarkers(ctx context.Context, home region.Code, feed messaging.MessageFeed, users []messaging.ChannelUser,
	update func(c *changes, u messaging.ChannelUser, mark *messaging.FeedMarker, move messaging.MarkerMove),
) error {
	return tryAgain(func() error {
		marks, read, err := s.marksOf(ctx, feed, home, users)
		if err != nil {
			return err
		}
		c := s.newChanges(home, messaging.MarkerMoves{FeedID: feed.ID, EntityID: feed.EntityID, LastSegment: feed.LastSegment}, s.Now())
		for _, u := range users {
			update(c, u, marks[u.UserID], messaging.MarkerMove{UserID: u.UserID, ReadTo: read[u.UserID]})
		}
		return c.commit(ctx)
	})
}

// moves reports whether a move to a segment changes a marker.
func moves(segment int64, move messaging.MarkerMove, mark messaging.FeedMarker) bool {
	return segment > mark.LastSegment || move.LastMention > mark.LastMention || move.ReadTo > mark.ReadTo
}

// marksOf reads the markers of users of one home for a feed and, for users who joined after their marker was last
// updated, the last segment before they joined: users have read all earlier messages.
func (s *Service) marksOf(ctx context.Context, feed messaging.MessageFeed, home region.Code,
	members []messaging.ChannelUser,
) (map[string]*messaging.FeedMarker, map[string]int64, error) {
	ids := service.Map(members, idOfUser)
	var found []messaging.FeedMarker
	reads := s.Store.NewReadBatch()
	reads.FeedMarkersOfUsers(home, feed.ID, ids, &found)
	if err := reads.Run(ctx); err != nil {
		return nil, nil, err
	}
	marks := make(map[string]*messaging.FeedMarker, len(found))
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
	list := messaging.MessageFeedList{ChannelID: c.ChannelID, Deleted: core.DeletedNone, Limit: feedsPerBatch}
	for more := true; more; {
		var feeds []messaging.MessageFeed
		var users []messaging.ChannelUser
		reads := s.Store.NewReadBatch()
		reads.ListMessageFeeds(list, &feeds)
		reads.ChannelUsers(c.ChannelID, c.UserIDs, &users)
		if err := reads.Run(ctx); err != nil {
			return err
		}
		list, more = list.Next(feeds, reads.Stops())
		for _, feed := range feeds {
			if feed.ChannelType == messaging.ChannelLive { // no markers
				return nil
			}
			for home, part := range byHome(s, users, idOfUser) {
				if err := s.followFeed(ctx, feed, home, part); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// followFeed is followMembers for one subchannel and users of one home.
func (s *Service) followFeed(ctx context.Context, feed messaging.MessageFeed, home region.Code, users []messaging.ChannelUser) error {
	return s.updateMarkers(ctx, home, feed, users, func(c *changes, u messaging.ChannelUser, mark *messaging.FeedMarker,
		move messaging.MarkerMove,
	) {
		switch {
		case !u.IsMember() && mark != nil && !mark.IsDeleted:
			c.deleted = append(c.deleted, u.UserID)
		case u.IsMember() && mark != nil && (mark.IsDeleted || moves(feed.LastSegment, move, *mark)):
			c.Restored = append(c.Restored, move)
		case u.IsMember() && mark == nil && feed.LastSegment > 0:
			c.Inserted = append(c.Inserted, move)
		}
	})
}
