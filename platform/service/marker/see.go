package marker

import (
	"context"
	"maps"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// SeeFeeds marks feeds as read by a user, up to the segments in readTo by feed, and notifies the user. It ignores
// feeds of channels that the user is not a member of.
func (s *Service) SeeFeeds(ctx context.Context, userID string, readTo map[string]int64) error {
	selected := selection{feeds: slices.Sorted(maps.Keys(readTo))}
	to := func(m messaging.FeedMarker) move {
		return move{readTo: readTo[m.FeedID], deliveredTo: readTo[m.FeedID]}
	}
	marks, err := service.Read(ctx, s.Deps, selected.read, userID)
	if err != nil {
		return err
	}
	_, err = s.moveMarkers(ctx, userID, selected, marks, to, nil)
	return err
}
