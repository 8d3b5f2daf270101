package marker

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
)

// This file moves the markers of the members of channels on. Messages of our own subchannels arrive here, where those of outside
// message stores arrive through Push.

// pageOfMembers is how many members one transaction moves on.
const pageOfMembers = 100

// fanOut moves the markers of a channel's members at one home to where the subchannel stands, page by page, and tells those for
// whom that changed something. It takes the subchannel as it stands now, not as the message left it: of many messages that arrive
// together, the first one's row does the work and the others find it done. Cut short, it is done again from the beginning, and
// finds the pages that are done.
func (s *Service) fanOut(ctx context.Context, m events.NewMessage) error {
	after, end := idsOf(m.Home)
	for {
		var feed *store.MessageFeed
		var message *store.Message
		var members []store.ChannelUser
		reads := s.Store.NewReadBatch()
		reads.MessageFeed(m.FeedID, &feed)
		reads.Message(m.MessageID, &message)
		reads.ChannelUsersAfter(m.ChannelID, after, pageOfMembers, &members)
		if err := reads.Run(ctx); err != nil {
			return err
		}
		full := len(members) == pageOfMembers
		members = slices.DeleteFunc(members, func(u store.ChannelUser) bool { return u.UserID >= end })
		if feed == nil || feed.DeletedAt != nil || len(members) == 0 {
			return nil
		}
		if err := s.advanceMembers(ctx, m.Home, *feed, newsOf(message), members); err != nil {
			return err
		}
		if !full {
			return nil
		}
		after = members[len(members)-1].UserID
	}
}

// idsOf are the bounds of the ids of a home: every one of them is greater than the first and less than the second.
func idsOf(home region.Code) (after, end string) {
	after = region.FixedID(home)[:2]
	return after, after + "g"
}

// messageNews is what a message says to markers beside that it is there.
type messageNews struct {
	segment   int64
	creatorID string
	mentioned map[string]bool // internal ids
	everybody bool            // is mentioned
}

// newsOf reads what a message says to markers; one that is gone for good says nothing.
func newsOf(m *store.Message) messageNews {
	news := messageNews{mentioned: map[string]bool{}}
	if m == nil {
		return news
	}
	news.segment, news.creatorID = m.Segment, m.CreatorID
	for _, mention := range view.MessageMentions(m.Mentions) {
		news.everybody = news.everybody || mention.Type == view.MentionChannel
		for _, id := range mention.UserIDs {
			news.mentioned[id] = true
		}
	}
	return news
}

// mentions reports whether the message mentions a user other than its author.
func (n messageNews) mentions(userID string) bool {
	return userID != n.creatorID && (n.everybody || n.mentioned[userID])
}

// advanceMembers moves the markers of members of one home in one transaction.
func (s *Service) advanceMembers(ctx context.Context, home region.Code, feed store.MessageFeed, news messageNews, members []store.ChannelUser) error {
	marks, read, err := s.marksOf(ctx, feed, home, members)
	if err != nil {
		return err
	}
	now := s.Now()
	tx := s.Store.NewTx(home)
	var outboxRows []store.OutboxRow
	for _, u := range members {
		move := store.MarkMove{UserID: u.UserID, FeedID: feed.ID, EntityID: feed.EntityID, LastSegment: feed.LastSegment, ReadTo: read[u.UserID]}
		if u.UserID == news.creatorID {
			move.ReadTo = max(move.ReadTo, news.segment)
		}
		if news.mentions(u.UserID) {
			move.LastMention = news.segment
		}
		move.ReadNew = move.ReadTo
		if mark, there := marks[u.UserID]; there && !moves(move, mark) {
			continue
		}
		tx.MoveFeedMark(move, now)
		outboxRows = append(outboxRows, s.tell(tx, u.UserID, feed.ID, feed.EntityID, now))
	}
	return s.commit(ctx, tx, outboxRows)
}

// moves reports whether a move changes a marker.
func moves(move store.MarkMove, mark store.FeedMark) bool {
	return move.LastSegment > mark.LastSegment || move.LastMention > mark.LastMention || move.ReadTo > mark.ReadTo
}

// marksOf reads the markers that users of one home have of a feed, and what those of them have read at least who joined since their
// marker last moved: the messages before they joined.
func (s *Service) marksOf(ctx context.Context, feed store.MessageFeed, home region.Code, members []store.ChannelUser) (map[string]store.FeedMark, map[string]int64, error) {
	ids := make([]string, len(members))
	for i, u := range members {
		ids[i] = u.UserID
	}
	var found []store.FeedMark
	reads := s.Store.NewReadBatch()
	reads.FeedMarksOfUsers(home, feed.ID, ids, &found)
	if err := reads.Run(ctx); err != nil {
		return nil, nil, err
	}
	marks := make(map[string]store.FeedMark, len(found))
	for _, m := range found {
		marks[m.UserID] = m
	}
	var joined []string
	var times []time.Time
	for _, u := range members {
		if mark, there := marks[u.UserID]; u.IsMember() && (!there || mark.UpdatedAt.Before(u.JoinedAt)) {
			joined, times = append(joined, u.UserID), append(times, u.JoinedAt)
		}
	}
	var segments []int64
	before := s.Store.NewReadBatch()
	before.SegmentsBefore(feed.ID, times, &segments)
	if err := before.Run(ctx); err != nil {
		return nil, nil, err
	}
	read := make(map[string]int64, len(joined))
	for i, id := range joined {
		read[id] = segments[i]
	}
	return marks, read, nil
}

// feedsOfChannel is how many subchannels one look at a channel takes.
const feedsOfChannel = 100

// followMembers has the markers of users follow their membership in a channel, as it is by now: who belongs to it has read what came
// before, and who does not has nothing unread there.
func (s *Service) followMembers(ctx context.Context, c events.ChangedMembers) error {
	list := store.MessageFeedList{ChannelID: c.ChannelID, Deleted: store.DeletedNone, Limit: feedsOfChannel}
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
			if feed.ChannelType == store.ChannelLive { // has no markers
				return nil
			}
			if err := s.followFeed(ctx, feed, c.Home, users); err != nil {
				return err
			}
		}
		if len(feeds) < feedsOfChannel {
			return nil
		}
		list.After, list.AfterID = feeds[len(feeds)-1].LastMessageAt, feeds[len(feeds)-1].ID
	}
}

// followFeed is followMembers for one subchannel and users of one home.
func (s *Service) followFeed(ctx context.Context, feed store.MessageFeed, home region.Code, users []store.ChannelUser) error {
	marks, read, err := s.marksOf(ctx, feed, home, users)
	if err != nil {
		return err
	}
	now := s.Now()
	tx := s.Store.NewTx(home)
	var outboxRows []store.OutboxRow
	for _, u := range users {
		mark, there := marks[u.UserID]
		move := store.MarkMove{
			UserID: u.UserID, FeedID: feed.ID, EntityID: feed.EntityID, LastSegment: feed.LastSegment,
			ReadNew: read[u.UserID], ReadTo: read[u.UserID],
		}
		switch {
		case !u.IsMember() && there && !mark.IsDeleted:
			tx.DeleteFeedMark(u.UserID, feed.ID, now)
		case u.IsMember() && (there && (mark.IsDeleted || moves(move, mark)) || !there && feed.LastSegment > 0):
			tx.RestoreFeedMark(u.UserID, feed.ID, now)
			tx.MoveFeedMark(move, now)
		default:
			continue
		}
		outboxRows = append(outboxRows, s.tell(tx, u.UserID, feed.ID, feed.EntityID, now))
	}
	return s.commit(ctx, tx, outboxRows)
}
