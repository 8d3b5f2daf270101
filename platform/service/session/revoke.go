package session

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// DeleteSession ends the caller's session. Administrators have none, and name the user whose sessions end.
func (s *Service) DeleteSession(ctx context.Context, req *plazav1.DeleteSessionRequest) (*plazav1.SuccessResponse, error) {
	if auth.CallerFrom(ctx).Kind == auth.Admin && req.GetUserId() == "" {
		return nil, fail.Validation("userId: required for administrators")
	}
	if req.GetUserId() != "" {
		return s.revokeAll(ctx, req.GetUserId(), req.IsPublic)
	}
	r := s.NewRequest(ctx)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(r.HomeOf(r.Caller.UserID))
	if r.Caller.Guest != auth.NoGuest {
		tx.InsertRevokedSession(r.Caller.UserID, r.Caller.SessionID, s.Now(), r.Caller.ExpiresAt)
		return service.Success(), tx.Commit(ctx)
	}
	tx.RevokeSession(r.Caller.UserID, r.Caller.SessionID, s.Now())
	tx.RemovePushDeviceOfSession(r.Caller.UserID, r.Caller.SessionID)
	return service.Success(), tx.Commit(ctx)
}

// RevokeUserSessions ends all sessions of the caller, or of another user, which requires EDIT_USER.
func (s *Service) RevokeUserSessions(ctx context.Context, req *plazav1.RevokeUserSessionsRequest) (*plazav1.SuccessResponse, error) {
	return s.revokeAll(ctx, req.GetUserId(), req.IsPublic)
}

func (s *Service) revokeAll(ctx context.Context, id string, isPublic *bool) (*plazav1.SuccessResponse, error) {
	r := s.NewRequest(ctx)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	userID, err := s.lookup(ctx, id, isPublic)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(r.Caller, auth.EditUser, auth.Scope{OwnerID: userID}); err != nil {
		return nil, err
	}
	if userID == "" {
		return nil, fail.NotFound()
	}
	if err := s.RequireOverOrSelf(ctx, r.Caller, userID); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(s.HomeOf(userID))
	tx.GuardTarget("user", userID, fail.NotFound())
	tx.RevokeSessions(userID, s.Now())
	tx.RemovePushDevices(userID)
	return service.Success(), tx.Commit(ctx)
}

// lookup returns the internal id of the user with a public id, or with an internal id if isPublic is false. It is
// empty for an unknown user.
func (s *Service) lookup(ctx context.Context, id string, isPublic *bool) (string, error) {
	if isPublic != nil && !*isPublic {
		if !region.ValidID(id) {
			return "", nil
		}
		return id, nil
	}
	return s.Directory.Lookup(ctx, id)
}
