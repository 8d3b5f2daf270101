package marker

import (
	"context"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// This file is what channels ask of the markers.

// SeeFeeds moves a user on in feeds, to the segments that readTo has by feed, and tells them. Feeds of channels that the user
// is no member of, and segments that are read already, change nothing.
func (s *Service) SeeFeeds(ctx context.Context, userID string, readTo map[string]int64) error {
	ids := make([]string, 0, len(readTo))
	for id := range readTo {
		ids = append(ids, id)
	}
	return s.moveOn(ctx, userID, selection{feeds: once(ids)}, func(m store.FeedMark) move {
		return move{readTo: readTo[m.FeedID], deliveredTo: readTo[m.FeedID]}
	})
}

func (s *Service) moveOn(ctx context.Context, userID string, selected selection, to func(store.FeedMark) move) error {
	var marks []store.FeedMark
	reads := s.Store.NewReadBatch()
	selected.read(reads, userID, &marks)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	marks, err := s.upToDate(ctx, userID, selected, marks, to)
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
