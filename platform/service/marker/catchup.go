package marker

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// This file brings a user's markers to where subchannels stand by now, ahead of the outbox: who has just read a message must not
// find it unread because the marker had not heard of it.

// upToDate returns the marks of a selection, brought up to date where one is missing or the user goes past what it knows of.
func (s *Service) upToDate(ctx context.Context, userID string, selected selection, marks []store.FeedMark, to func(store.FeedMark) move) ([]store.FeedMark, error) {
	behind := selected.behind(marks, to)
	if len(behind) == 0 {
		return marks, nil
	}
	moved, err := s.catchUp(ctx, userID, behind)
	if err != nil || !moved {
		return marks, err
	}
	reads := s.Store.NewReadBatch()
	selected.read(reads, userID, &marks)
	return marks, reads.Run(ctx)
}

// behind are the feeds of a selection that have no mark yet, or one that ends before the user does. Of a channel that is its first
// subchannel, whose id is the channel's, and those that have a mark.
func (s selection) behind(marks []store.FeedMark, to func(store.FeedMark) move) []string {
	var ids []string
	known := map[string]bool{}
	for _, m := range marks {
		known[m.FeedID] = true
		if wanted := to(m); max(wanted.readTo, wanted.deliveredTo) > m.LastSegment {
			ids = append(ids, m.FeedID)
		}
	}
	for _, id := range slices.Concat(s.feeds, s.entities) {
		if !known[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// catchUp moves the markers of a user to where subchannels stand whose channels the user is a member of, and reports whether there is
// any such. What lives at a home that is away stays as it is.
func (s *Service) catchUp(ctx context.Context, userID string, ids []string) (bool, error) {
	feeds := make([]*store.MessageFeed, len(ids))
	reads := s.Store.NewBestEffortBatch()
	for i, id := range ids {
		reads.MessageFeed(id, &feeds[i])
	}
	if err := reads.Run(ctx); err != nil {
		return false, err
	}
	feeds = slices.DeleteFunc(feeds, func(f *store.MessageFeed) bool {
		return f == nil || f.DeletedAt != nil || f.ChannelType == store.ChannelLive
	})
	members := make([]*store.ChannelUser, len(feeds))
	reads = s.Store.NewBestEffortBatch()
	for i, feed := range feeds {
		reads.ChannelUser(feed.EntityID, userID, &members[i])
	}
	if err := reads.Run(ctx); err != nil {
		return false, err
	}
	moved := false
	for i, feed := range feeds {
		if !members[i].IsMember() {
			continue
		}
		moved = true
		if err := s.advanceMembers(ctx, service.HomeOf(userID), *feed, newsOf(nil), []store.ChannelUser{*members[i]}); err != nil {
			return false, err
		}
	}
	return moved, nil
}
