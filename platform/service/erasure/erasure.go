// Package erasure implements ErasureService, which erases users.
//
// The request empties the user's row and inserts a row of erasures in the same transaction, at the user's home. A job
// of that home then takes the steps in order, see steps. Each step walks through one table in one home, a page at a
// time, and stores its position after each page, so that another server can continue. When all steps are done, the job
// waits until every server has ended the requests that began before it knew about the erasure, and until the outboxes contain
// nothing about the user. Then it takes the steps once again: the second pass finds what these requests wrote behind the first one,
// and deletes the rows whose end had to reach other homes first. If a server does not answer, it waits for as long as requests take.
package erasure

import (
	"context"
	"errors"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/steps"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements ErasureService.
type Service struct{ *service.Deps }

// New returns the service.
func New(d *service.Deps) *Service { return &Service{d} }

// EraseUser begins the erasure of a user.
func (s *Service) EraseUser(ctx context.Context, req *plazav1.EraseUserRequest) (*plazav1.EraseUserResponse, error) {
	var users []people.User
	r := s.NewRequest(ctx)
	userID := r.Resolve(ctx, req.GetUserId())
	r.Users([]string{userID}, &users)
	r.Check(func() error { return s.RequireSelfOrOver(r.Caller, userID, auth.ManageAdmin, users) })
	r.CheckFound(func() bool { return len(users) > 0 })
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if users[0].DeletedAt == nil {
		if err := s.begin(ctx, users[0], r.Caller.UserID); err != nil {
			return nil, err
		}
	}
	return &plazav1.EraseUserResponse{Success: true, ErasureId: userID}, nil
}

// begin empties the user's row, ends the sessions, starts the job and emits the event about it, which names the user by the internal
// id only. The user id and the handle become free; if a home
// is unavailable, the job frees the id there, and the claim of the handle is stale.
func (s *Service) begin(ctx context.Context, u people.User, requestedBy string) error {
	now := s.Now()
	tx := s.Store.NewTx(s.HomeOf(u.ID))
	tx.EraseUser(u.ID, now)
	tx.RevokeSessions(u.ID, now)
	tx.InsertErasure(lifecycle.Erasure{ID: u.ID, PublicID: u.PublicID, RequestedBy: requestedBy}, now)
	if err := s.CommitChange(ctx, tx, events.UserDeleted, s.UserChange(u.ID)); err != nil {
		return err
	}
	err := s.Directory.Release(ctx, u.PublicID, u.ID)
	if u.ProfileHandle != "" {
		err = errors.Join(err, s.Directory.ReleaseHandle(ctx, u.ProfileHandle, u.HandleClaim))
	}
	if err != nil {
		s.Log.WarnContext(ctx, "user id or handle not yet released", "error", err)
	}
	return nil
}

// GetErasure returns the progress of an erasure.
func (s *Service) GetErasure(ctx context.Context, req *plazav1.GetErasureRequest) (*plazav1.ErasureResponse, error) {
	var row *lifecycle.Erasure
	r := s.NewPrivilegedRequest(ctx, auth.ManageAdmin)
	r.Erasure(req.GetErasureId(), &row)
	r.CheckFound(func() bool { return row != nil })
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	return &plazav1.ErasureResponse{Erasure: message(*row)}, nil
}

func message(e lifecycle.Erasure) *plazav1.Erasure {
	m := &plazav1.Erasure{
		ErasureId: e.ID, State: e.State, RequestedBy: e.RequestedBy, RequestedAt: timestamppb.New(e.RequestedAt),
		UpdatedAt: timestamppb.New(e.UpdatedAt), Step: e.Step, Erased: steps.Counts(e.Erased),
	}
	if e.FinishedAt != nil {
		m.FinishedAt = timestamppb.New(*e.FinishedAt)
	}
	return m
}

// subject is the user who is erased.
type subject struct{ id, publicID string }

// anonymousID is the public id of an erased user. Users cannot choose ids with this prefix.
func (u subject) anonymousID() string { return "DELETED_" + u.id }

// errChanged is the refusal of a guard: another request has made the change already.
var errChanged = errors.New("the row changed after it was read")
