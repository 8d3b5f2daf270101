package session

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// The details of refused sign-ins of guests.
var (
	errGuestSecureMode = fail.Unauthorized().WithDetails("authSignature: required in secure mode")
	errGuestExpiry     = fail.Validation("authSignatureExpiresAt: required with authSignature")
)

// CreateVisitorSession signs a person in who has no account.
func (s *Service) CreateVisitorSession(
	ctx context.Context, req *plazav1.CreateGuestSessionRequest,
) (*plazav1.CreateSessionResponse, error) {
	return s.createGuest(ctx, auth.Visitor, req)
}

// CreateBotSession signs a program in.
func (s *Service) CreateBotSession(ctx context.Context, req *plazav1.CreateGuestSessionRequest) (*plazav1.CreateSessionResponse, error) {
	return s.createGuest(ctx, auth.Bot, req)
}

// createGuest returns a session of a guest, of whom nothing is stored: the access token says all about them. The ids
// are the same whenever the device signs in with a server of this region.
func (s *Service) createGuest(ctx context.Context, kind auth.Guest,
	req *plazav1.CreateGuestSessionRequest,
) (*plazav1.CreateSessionResponse, error) {
	if err := s.checkGuest(ctx, req); err != nil {
		return nil, err
	}
	userID := s.Directory.GuestID(s.Region, string(kind), req.GetDeviceId())
	user := service.GuestUser(userID, string(kind)+"-"+userID, s.Now())
	return s.respond(ctx, &user, auth.AccessSubject{UserID: userID, PublicID: user.PublicID, SessionID: s.NewID(s.Region), Guest: kind})
}

// checkGuest checks the signature of the device. A signature that is given must be valid.
func (s *Service) checkGuest(ctx context.Context, req *plazav1.CreateGuestSessionRequest) error {
	switch {
	case req.AuthSignature == nil:
		return s.requireOpen(ctx, errGuestSecureMode)
	case req.AuthSignatureExpiresAt == nil:
		return errGuestExpiry
	}
	return s.serverKeys.CheckGuest(req.GetAuthSignature(), req.GetDeviceId(), req.GetAuthSignatureExpiresAt())
}
