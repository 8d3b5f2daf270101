package marker

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// changes are changes of the markers of a feed, of users of one home.
type changes struct {
	messaging.MarkerMoves

	deps    *service.Deps
	home    region.Code
	now     time.Time
	deleted []string // ids of users
}

func (s *Service) newChanges(home region.Code, to messaging.MarkerMoves, now time.Time) *changes {
	return &changes{MarkerMoves: to, deps: s.Deps, home: home, now: now}
}

// commit commits the changes together with the events that notify the users. Each kind has a transaction of its own: in one
// transaction, the order of their users would not be the order of the locks.
func (c *changes) commit(ctx context.Context) error {
	moved, restored := c.MarkerMoves, c.MarkerMoves
	moved.Restored, restored.Moved, restored.Inserted = nil, nil, nil
	for _, part := range []messaging.MarkerMoves{moved, restored} {
		users := service.Map(slices.Concat(part.Moved, part.Restored, part.Inserted), func(m messaging.MarkerMove) string { return m.UserID })
		if err := c.commitOne(ctx, users, func(tx *store.Tx) { tx.MoveFeedMarkers(part, c.now) }); err != nil {
			return err
		}
	}
	return c.commitOne(ctx, c.deleted, func(tx *store.Tx) {
		for _, id := range c.deleted {
			tx.DeleteFeedMarker(id, c.FeedID, c.now)
		}
	})
}

// commitOne commits one transaction. It does nothing without users.
func (c *changes) commitOne(ctx context.Context, users []string, write func(*store.Tx)) error {
	if len(users) == 0 {
		return nil
	}
	tx := c.deps.Store.NewTx(c.home)
	write(tx)
	changed := service.Map(users, func(id string) events.Change {
		return c.deps.MarkersChange(id, []string{c.FeedID}, []string{c.EntityID})
	})
	return c.deps.CommitSoon(ctx, tx, events.EmitChanges(tx, events.MarkerUserSync, changed, users, c.now)...)
}

// maxMarkerTries limits how often markers are read again because another server has inserted one of them.
const maxMarkerTries = 3

// tryAgain calls update until it does not return ErrMarkerExists.
func tryAgain(update func() error) (err error) {
	for range maxMarkerTries {
		if err = update(); !errors.Is(err, messaging.ErrMarkerExists) {
			return err
		}
	}
	return err
}
