package marker

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// The outbox updates markers asynchronously. Before a marker moves past the last segment that it knows of, this file
// updates it from the feed. Otherwise a message that the user has just read could still count as unread.

// catchUp returns the markers of a selection. It first updates markers that do not exist yet, or that end before the
// position that to returns.
func (s *Service) catchUp(ctx context.Context, userID string, selected selection, marks []messaging.FeedMarker,
	to func(messaging.FeedMarker) move,
) ([]messaging.FeedMarker, error) {
	behind := selected.behind(marks, to)
	if len(behind) == 0 {
		return marks, nil
	}
	moved, err := s.updateFromFeeds(ctx, userID, behind)
	if err != nil || !moved {
		return marks, err
	}
	return service.Read(ctx, s.Deps, selected.read, userID)
}

// behind returns the feeds of a selection whose marker does not exist yet or ends before the position that to
// returns. For a channel without markers it returns the default subchannel, which has the id of the channel.
func (s selection) behind(marks []messaging.FeedMarker, to func(messaging.FeedMarker) move) []string {
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

// updateFromFeeds updates the markers of a user from feeds of channels that the user is a member of, and reports
// whether there are any. It skips feeds whose home is unavailable.
func (s *Service) updateFromFeeds(ctx context.Context, userID string, ids []string) (bool, error) {
	feeds := make([]*messaging.MessageFeed, len(ids))
	reads := s.Store.NewBestEffortBatch()
	for i, id := range ids {
		reads.MessageFeed(id, &feeds[i])
	}
	if err := reads.Run(ctx); err != nil {
		return false, err
	}
	feeds = slices.DeleteFunc(feeds, func(f *messaging.MessageFeed) bool {
		return f == nil || f.DeletedAt != nil || f.ChannelType == messaging.ChannelLive
	})
	members := make([]*messaging.ChannelUser, len(feeds))
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
		if err := s.advanceMembers(ctx, s.HomeOf(userID), *feed, nil, []messaging.ChannelUser{*members[i]}); err != nil {
			return false, err
		}
	}
	return moved, nil
}
