package marker

import (
	"context"
	"maps"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// SeeFeeds marks feeds as read by a user, up to the segments in readTo by feed, and notifies the user. It ignores
// feeds of channels that the user is not a member of.
func (s *Service) SeeFeeds(ctx context.Context, userID string, readTo map[string]int64) error {
	selected := selection{feeds: slices.Sorted(maps.Keys(readTo))}
	to := func(m store.FeedMarker) move { return move{readTo: readTo[m.FeedID], deliveredTo: readTo[m.FeedID]} }
	var marks []store.FeedMarker
	reads := s.Store.NewReadBatch()
	selected.read(reads, userID, &marks)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	marks, err := s.catchUp(ctx, userID, selected, marks, to)
	if err != nil || len(marks) == 0 {
		return err
	}
	tx := s.Store.NewTx(service.HomeOf(userID))
	outboxRows, err := s.write(ctx, tx, userID, marks, to, nil)
	if err != nil {
		return err
	}
	s.Outbox.DeliverSoon(ctx, tx.Home(), outboxRows...)
	return nil
}
