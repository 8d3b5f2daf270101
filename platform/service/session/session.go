// Package session implements SessionService: it signs users in and out.
package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements SessionService.
type Service struct {
	*service.Deps
	issuer     *auth.Issuer
	serverKeys *auth.KeySet
}

// New returns the service. The server keys sign the devices of guests.
func New(d *service.Deps, issuer *auth.Issuer, serverKeys *auth.KeySet) *Service {
	return &Service{Deps: d, issuer: issuer, serverKeys: serverKeys}
}

// CreateSession signs a user in, and creates an unknown user in the region of this server. In secure mode an
// authToken from the app's server is required; users with a network role need one in any mode. If an authToken is
// given, it must be valid. Without one, the name and handle of an existing user do not change.
func (s *Service) CreateSession(ctx context.Context, req *plazav1.CreateSessionRequest) (*plazav1.CreateSessionResponse, error) {
	if region.ValidID(req.GetUserId()) {
		return nil, fail.Validation("userId: must not have the form of an internal id")
	}
	if err := s.checkAuthToken(ctx, req); err != nil {
		return nil, err
	}
	p, err := s.profileOf(ctx, req)
	if err != nil {
		return nil, err
	}
	auth.CallerFrom(ctx).SignedIn(p.userID, req.GetUserId(), p.roles)
	user, sessionID, err := s.store(ctx, req, p)
	if err != nil {
		return nil, err
	}
	p.handle.ReleaseOld(ctx)
	switch {
	case user.DeletedAt != nil && s.Directory.Refresh(ctx, req.GetUserId()) != user.ID:
		return s.CreateSession(ctx, req) // the user was erased, and the id is free again
	case user.DeletedAt != nil:
		return nil, fail.Unauthorized().Because(auth.ErrDeletedUser)
	case user.IsGlobalBan:
		return nil, fail.GlobalBan()
	}
	return s.respond(ctx, user, auth.AccessSubject{UserID: user.ID, PublicID: user.PublicID, SessionID: sessionID})
}

// The details of refused sign-ins without an authToken.
var (
	errSecureMode = fail.Unauthorized().WithDetails("authToken: required in secure mode")
	errRoleHolder = fail.Unauthorized().WithDetails("authToken: required for users with a network role")
)

// checkAuthToken checks the authToken of the request.
func (s *Service) checkAuthToken(ctx context.Context, req *plazav1.CreateSessionRequest) error {
	if req.AuthToken != nil {
		return s.issuer.CheckAuthToken(req.GetUserId(), req.GetAuthToken())
	}
	return s.requireOpen(ctx, errSecureMode)
}

// requireOpen returns refused in secure mode.
func (s *Service) requireOpen(ctx context.Context, refused error) error {
	settings, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Settings, s.Region)
	if err == nil && settings.IsSecureModeEnabled {
		return refused
	}
	return err
}

// store creates the user if it does not exist, and the session. With an authToken it updates the name and handle if the
// request sets them.
func (s *Service) store(ctx context.Context, req *plazav1.CreateSessionRequest, p signInProfile) (*people.User, string, error) {
	now, home, userID := s.Now(), s.HomeOf(p.userID), p.userID
	session := people.Session{
		ID: s.NewID(home), UserID: userID, DeviceHash: deviceHash(req.GetDeviceId()), CreatedAt: now,
		ExpiresAt: now.Add(s.issuer.AccessLifetime()), Authenticated: authenticated(req),
	}
	tx := s.Store.NewTx(home)
	tx.InsertUser(p.newUser(req), now)
	if !session.Authenticated {
		tx.GuardNoRoles(userID, errRoleHolder)
	} else if change := p.change(req); change.DisplayName != nil || change.ProfileHandle != nil {
		var updated *people.User
		tx.UpdateUser(userID, change, now, &updated)
	}
	tx.InsertSession(session)
	if s.Quotas.Sessions > 0 {
		tx.TrimSessions(userID, session.ID, s.Quotas.Sessions)
	}
	var users []people.User
	tx.SelectUser(userID, &users)
	if err := tx.Commit(ctx); err != nil {
		return nil, "", err
	}
	return &users[0], session.ID, nil
}

// respond returns the session with a new access token.
func (s *Service) respond(ctx context.Context, user *people.User, subject auth.AccessSubject) (*plazav1.CreateSessionResponse, error) {
	token, issued, expires, err := s.issuer.MintAccess(subject)
	if err != nil {
		return nil, fail.Unexpected(err)
	}
	return &plazav1.CreateSessionResponse{
		AccessToken:    token,
		IssuedAt:       timestamppb.New(issued.Truncate(time.Millisecond)),
		ExpiresAt:      timestamppb.New(expires.Truncate(time.Millisecond)),
		Users:          []*plazav1.User{s.View.User(ctx, *user)},
		Roles:          s.View.Roles(user.Roles),
		UserType:       cmp.Or(string(subject.Guest), "signed-in"),
		LastCachePurge: nil,
	}, nil
}

// VerifySession succeeds if the caller's access token is valid.
func (s *Service) VerifySession(ctx context.Context, _ *plazav1.VerifySessionRequest) (*plazav1.VerifySessionResponse, error) {
	return &plazav1.VerifySessionResponse{}, s.NewRequest(ctx).Run(ctx)
}

func deviceHash(deviceID string) []byte {
	sum := sha256.Sum256([]byte(deviceID))
	return sum[:]
}
