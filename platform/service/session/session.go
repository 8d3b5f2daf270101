// Package session implements SessionService: it signs users in and out.
package session

import (
	"cmp"
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements SessionService.
type Service struct {
	*service.Deps
	issuer *auth.Issuer
}

// New returns the service.
func New(d *service.Deps, issuer *auth.Issuer) *Service { return &Service{Deps: d, issuer: issuer} }

// CreateSession signs a user in, and creates an unknown user in the region of this server. In secure mode an
// authToken from the app's server is required. If an authToken is given, it must be valid in any mode.
func (s *Service) CreateSession(ctx context.Context, req *plazav1.CreateSessionRequest) (*plazav1.CreateSessionResponse, error) {
	if region.ValidID(req.GetUserId()) {
		return nil, fail.Validation("userId: must not have the form of an internal id")
	}
	if err := s.checkAuthToken(ctx, req); err != nil {
		return nil, err
	}
	userID, err := s.internalID(ctx, req.GetUserId())
	if err != nil {
		return nil, err
	}
	sessionID := s.NewID(service.HomeOf(userID))
	now := s.Now()
	user, err := s.store(ctx, req, userID, sessionID, now)
	if err != nil {
		return nil, err
	}
	switch {
	case user.DeletedAt != nil:
		return nil, fail.Unauthorized().Because(auth.ErrDeletedUser)
	case user.IsGlobalBan:
		return nil, fail.GlobalBan()
	}
	if err := s.endOtherSessions(ctx, req.GetDeviceId(), userID, now); err != nil {
		return nil, err
	}
	return s.respond(user, sessionID)
}

// checkAuthToken checks the authToken of the request.
func (s *Service) checkAuthToken(ctx context.Context, req *plazav1.CreateSessionRequest) error {
	if req.AuthToken != nil {
		return s.issuer.CheckAuthToken(req.GetUserId(), req.GetAuthToken())
	}
	settings, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Settings, s.Region)
	if err != nil {
		return err
	}
	if settings.IsSecureModeEnabled {
		return fail.Unauthorized().WithDetails("authToken: required in secure mode")
	}
	return nil
}

// internalID returns the internal id of a user, and claims one for an unknown user.
func (s *Service) internalID(ctx context.Context, publicID string) (string, error) {
	userID, err := s.Directory.Lookup(ctx, publicID)
	if err != nil || userID != "" {
		return userID, err
	}
	return s.Directory.Claim(ctx, publicID, s.NewID(s.Region))
}

// store creates the user if it does not exist, updates the name and handle if the request sets them, and creates the
// session.
func (s *Service) store(ctx context.Context, req *plazav1.CreateSessionRequest, userID, sessionID string, now time.Time) (*store.User, error) {
	name := cmp.Or(req.GetDisplayName(), req.GetUserId())
	device := deviceHash(req.GetDeviceId())
	tx := s.Store.NewTx(service.HomeOf(userID))
	tx.InsertUser(store.User{ID: userID, PublicID: req.GetUserId(), DisplayName: name, ProfileHandle: req.GetProfileHandle()}, now)
	if req.GetDisplayName() != "" || req.ProfileHandle != nil {
		tx.RenameUser(userID, nonEmpty(req.GetDisplayName()), req.ProfileHandle, now)
	}
	tx.InsertSession(store.Session{ID: sessionID, UserID: userID, DeviceHash: device, CreatedAt: now, ExpiresAt: now.Add(s.issuer.AccessLifetime())})
	if s.Quotas.Sessions > 0 {
		tx.TrimSessions(userID, sessionID, s.Quotas.Sessions)
	}
	var users []store.User
	tx.SelectUser(userID, &users)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return &users[0], nil
}

func nonEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// respond returns the session with a new access token.
func (s *Service) respond(user *store.User, sessionID string) (*plazav1.CreateSessionResponse, error) {
	token, issued, expires, err := s.issuer.MintAccess(auth.AccessSubject{UserID: user.ID, PublicID: user.PublicID, SessionID: sessionID})
	if err != nil {
		return nil, fail.Unexpected(err)
	}
	return &plazav1.CreateSessionResponse{
		AccessToken:    token,
		IssuedAt:       timestamppb.New(issued.Truncate(time.Millisecond)),
		ExpiresAt:      timestamppb.New(expires.Truncate(time.Millisecond)),
		Users:          []*plazav1.User{s.View.User(*user)},
		Roles:          s.View.Roles(user.Roles),
		UserType:       "signed-in",
		LastCachePurge: nil,
	}, nil
}

// VerifySession succeeds if the caller's access token is valid.
func (s *Service) VerifySession(ctx context.Context, _ *plazav1.VerifySessionRequest) (*plazav1.VerifySessionResponse, error) {
	return &plazav1.VerifySessionResponse{}, s.NewRequest(ctx).Run(ctx)
}
