package marker

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

const (
	// syncPage is the number of markers in a response.
	syncPage = 100
	// maxSyncPage is its maximum: markers with the same time of change are not split.
	maxSyncPage = 1100
)

// SyncMarkers gets the markers that changed since a device last synchronized, oldest change first. lastSyncAt in the
// response is the time of its newest change, or that of the request if nothing changed. Synchronizing does not emit
// events: devices synchronize because of an event.
func (s *Service) SyncMarkers(ctx context.Context, req *plazav1.SyncMarkersRequest) (*plazav1.MarkerResponse, error) {
	var since time.Time
	if at := req.GetDeviceLastSyncAt(); at != nil {
		since = at.AsTime()
	}
	var changed []messaging.FeedMarker
	r := s.NewUserRequest(ctx)
	r.ChangedFeedMarkers(r.Caller.UserID, since, maxSyncPage, &changed)
	if err := r.Run(ctx); err != nil {
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
	if now := s.Now(); upTo.After(now) { // the clock of the device is ahead
		upTo = now
	}
	tx := s.Store.NewTx(s.HomeOf(r.Caller.UserID))
	tx.UpdateLastSync(r.Caller.UserID, upTo, s.Now())
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.respondSync(ctx, *r.User(), changed, upTo)
}

// firstPage returns the first page, including all markers with the same time of change as its last one.
func firstPage(changed []messaging.FeedMarker) []messaging.FeedMarker {
	if len(changed) <= syncPage {
		return changed
	}
	n := syncPage
	for n < len(changed) && changed[n].UpdatedAt.Equal(changed[n-1].UpdatedAt) {
		n++
	}
	return changed[:n]
}

// respondSync returns the changed markers, with the time that this device continues from instead of that of the
// user's last device.
func (s *Service) respondSync(
	ctx context.Context, user people.User, changed []messaging.FeedMarker, upTo time.Time,
) (*plazav1.MarkerResponse, error) {
	resp, err := s.respond(ctx, user, feedsOf(changed), entitiesOf(changed))
	if err != nil {
		return nil, err
	}
	for _, m := range resp.GetUserMarkers() {
		m.LastSyncAt = timestamppb.New(upTo)
	}
	return resp, nil
}
