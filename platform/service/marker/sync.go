package marker

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

const (
	// syncPage is how many feeds an answer is to hold.
	syncPage = 100
	// syncMost is how many it can hold: those that changed at the same moment stay together.
	syncMost = 1100
)

// SyncMarkers gets what changed since a device last asked, oldest change first. The answer's lastSyncAt is the time of its
// newest change, and stays where nothing changed. It is no change of a marker that users are told: their devices ask because
// of the event.
func (s *Service) SyncMarkers(ctx context.Context, req *plazav1.SyncMarkersRequest) (*answer, error) {
	var since time.Time
	if at := req.GetDeviceLastSyncAt(); at != nil {
		since = at.AsTime()
	}
	var changed []store.FeedMark
	r := s.NewRequest(ctx)
	if r.Caller.UserID != "" {
		r.ChangedFeedMarks(r.Caller.UserID, since, syncMost, &changed)
	}
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if err := r.RequireUser(); err != nil {
		return nil, err
	}
	changed = firstPage(changed)
	upTo := r.User().CreatedAt
	if since.After(upTo) {
		upTo = since
	}
	if n := len(changed); n > 0 {
		upTo = changed[n-1].UpdatedAt
	}
	if now := s.Now(); upTo.After(now) { // of a device whose clock is ahead
		upTo = now
	}
	tx := s.Store.NewTx(service.HomeOf(r.Caller.UserID))
	tx.SyncMarks(r.Caller.UserID, upTo, s.Now())
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answerSync(ctx, *r.User(), changed, upTo)
}

// firstPage keeps a page, and what changed at the same moment as its last row.
func firstPage(changed []store.FeedMark) []store.FeedMark {
	if len(changed) <= syncPage {
		return changed
	}
	n := syncPage
	for n < len(changed) && changed[n].UpdatedAt.Equal(changed[n-1].UpdatedAt) {
		n++
	}
	return changed[:n]
}

// answerSync says to this device where it goes on, whatever other devices have said.
func (s *Service) answerSync(ctx context.Context, user store.User, changed []store.FeedMark, upTo time.Time) (*answer, error) {
	resp, err := s.answer(ctx, user, feedsOf(changed), entitiesOf(changed))
	if err != nil {
		return nil, err
	}
	for _, m := range resp.GetUserMarkers() {
		m.LastSyncAt = timestamp(upTo)
	}
	return resp, nil
}
