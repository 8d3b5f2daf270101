package session

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// DeleteSession ends the caller's own session. An administrator has none, and names the user whose sessions end.
func (s *Service) DeleteSession(ctx context.Context, req *plazav1.DeleteSessionRequest) (*plazav1.SuccessResponse, error) {
	if auth.CallerFrom(ctx).Kind == auth.Admin && req.GetUserId() == "" {
		return nil, fail.Validation("userId: administrators name the user")
	}
	if req.GetUserId() != "" {
		return s.revokeAll(ctx, req.GetUserId(), req.IsPublic)
	}
	r := s.NewRequest(ctx)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(r.Caller.Home)
	tx.RevokeSession(r.Caller.UserID, r.Caller.SessionID, s.Now())
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return &plazav1.SuccessResponse{Success: true}, nil
}

// RevokeUserSessions ends every session of a user: one's own, or anybody's for those who may edit users.
func (s *Service) RevokeUserSessions(ctx context.Context, req *plazav1.RevokeUserSessionsRequest) (*plazav1.SuccessResponse, error) {
	return s.revokeAll(ctx, req.GetUserId(), req.IsPublic)
}

func (s *Service) revokeAll(ctx context.Context, id string, isPublic *bool) (*plazav1.SuccessResponse, error) {
	r := s.NewRequest(ctx)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	userID, err := s.named(ctx, id, isPublic)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(r.Caller, auth.EditUser, auth.Scope{OwnerID: userID}); err != nil {
		return nil, err
	}
	if userID == "" {
		return nil, fail.NotFound()
	}
	tx := s.Store.NewTx(homeOf(userID))
	tx.GuardTarget("user", userID, fail.NotFound())
	tx.RevokeSessions(userID, s.Now())
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return &plazav1.SuccessResponse{Success: true}, nil
}

// named is the internal id of the user that a request names, empty for an unknown one.
func (s *Service) named(ctx context.Context, id string, isPublic *bool) (string, error) {
	if isPublic != nil && !*isPublic {
		if !region.ValidID(id) {
			return "", nil
		}
		return id, nil
	}
	return s.Directory.Lookup(ctx, id)
}
