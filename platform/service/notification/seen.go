package notification

import (
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/notify"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// GetTraySeen returns when the caller last looked at the tray, and when something last happened.
func (s *Service) GetTraySeen(ctx context.Context, _ *plazav1.GetTraySeenRequest) (*plazav1.TraySeenResponse, error) {
	var state notify.TrayState
	r := s.NewUserRequest(ctx)
	r.TrayState(r.Caller.UserID, &state)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	return &plazav1.TraySeenResponse{LastTraySeenAt: timestampOf(state.SeenAt), LastTrayOccurredAt: timestampOf(state.OccurredAt)}, nil
}

// MarkTraySeen records that the caller has looked at the tray.
func (s *Service) MarkTraySeen(ctx context.Context, req *plazav1.MarkTraySeenRequest) (*plazav1.MarkTraySeenResponse, error) {
	r := s.NewUserRequest(ctx)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	var seenAt time.Time
	tx := s.Store.NewTx(s.HomeOf(r.Caller.UserID))
	tx.SeeTray(r.Caller.UserID, s.notLater(req.GetLastSeenAt()), &seenAt)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return &plazav1.MarkTraySeenResponse{LastSeenAt: timestamppb.New(seenAt)}, nil
}

// MarkTrayItemsSeen records that the caller has seen items. It returns those that exist.
func (s *Service) MarkTrayItemsSeen(
	ctx context.Context, req *plazav1.MarkTrayItemsSeenRequest,
) (*plazav1.MarkTrayItemsSeenResponse, error) {
	r := s.NewUserRequest(ctx)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	seen := make([]*notify.TrayItem, len(req.GetTrayItems()))
	tx := s.Store.NewTx(s.HomeOf(r.Caller.UserID))
	order := make([]int, len(seen)) // by id: another device of the user may send the same items
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return strings.Compare(req.GetTrayItems()[a].GetId(), req.GetTrayItems()[b].GetId())
	})
	for _, i := range order {
		item := req.GetTrayItems()[i]
		tx.SeeTrayItem(r.Caller.UserID, item.GetId(), s.notLater(item.GetLastSeenAt()), &seen[i])
	}
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	response := &plazav1.MarkTrayItemsSeenResponse{}
	for _, item := range seen {
		if item != nil {
			response.TrayItems = append(response.TrayItems, &plazav1.SeenTrayItem{Id: item.ID, LastSeenAt: timestampOf(item.LastSeenAt)})
		}
	}
	return response, nil
}

// notLater returns a time of a client in milliseconds, or the present if it is absent or later.
func (s *Service) notLater(at *timestamppb.Timestamp) time.Time {
	if now := s.Now(); at == nil || at.AsTime().After(now) {
		return now
	}
	return at.AsTime().Truncate(time.Millisecond)
}

// Retention is how long items are kept after their latest action.
const Retention = 90 * 24 * time.Hour

// Job returns the background job that deletes old items.
func (s *Service) Job() jobs.Job {
	return s.SweepRows("notification tray", 10*time.Minute, func(tx *store.Tx, removed *int64) {
		tx.SweepTray(s.Now().Add(-Retention), removed)
	})
}
