package session

import (
	"cmp"
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/service/internal/profile"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// signInProfile is the user who signs in, and the profile that the request sets.
type signInProfile struct {
	userID string
	exists bool // the user's row
	// keepsName is whether the settings of the network forbid the user to change the display name.
	keepsName bool
	roles     []string
	handle    profile.Handle
}

// authenticated reports whether a request whose authToken has been checked proves who the user is. Without proof the
// profile of an existing user does not change.
func authenticated(req *plazav1.CreateSessionRequest) bool { return req.AuthToken != nil }

// profileOf finds the user, claims an internal id for an unknown one, and checks the name and handle if they apply.
func (s *Service) profileOf(ctx context.Context, req *plazav1.CreateSessionRequest) (p signInProfile, err error) {
	if p.userID, err = s.Directory.Lookup(ctx, req.GetUserId()); err != nil {
		return p, err
	}
	var settings network.Settings
	old, err := s.checkProfile(ctx, req, p.userID, &settings)
	if err != nil {
		return p, err
	}
	if p.userID == "" {
		if err := directory.CheckName("userId", req.GetUserId()); err != nil {
			return p, err
		}
		if p.userID, err = s.Directory.Claim(ctx, req.GetUserId(), s.NewID(s.Region)); err != nil {
			return p, err
		}
	}
	if !old.IsGlobalBan && old.DeletedAt == nil {
		p.roles = old.Roles
	}
	if p.exists = old.ID != ""; p.exists && !authenticated(req) {
		return p, nil
	}
	p.keepsName = p.exists && !settings.IsAllowUpdateDisplayName
	old.ID = p.userID
	p.handle, err = profile.ClaimHandle(ctx, s.Deps, old, req.ProfileHandle)
	return p, err
}

// checkProfile checks the name and handle that a request sets against the text rules, and returns the user's row, zero
// if there is none. It also reads the settings. Unauthenticated requests that set neither need no row and no settings.
func (s *Service) checkProfile(
	ctx context.Context, req *plazav1.CreateSessionRequest, userID string, settings *network.Settings,
) (people.User, error) {
	if req.GetDisplayName() == "" && req.ProfileHandle == nil && !authenticated(req) {
		return people.User{ID: userID}, nil
	}
	var users []people.User
	reads := s.Store.NewReadBatch()
	reads.Users([]string{userID}, &users)
	reads.Settings(s.HomeOf(userID), settings)
	rules := textrules.Read(s.Deps, reads, s.HomeOf(userID))
	if err := reads.Run(ctx); err != nil {
		return people.User{}, err
	}
	old := append(users, people.User{})[0]
	if old.ID != "" && !authenticated(req) {
		return old, nil
	}
	changed := textrules.TextOfChanges([2]*string{&old.DisplayName, req.DisplayName}, [2]*string{&old.ProfileHandle, req.ProfileHandle})
	return old, rules.Require(ctx, auth.CallerFrom(ctx), changed)
}

// newUser returns the row of a user who does not exist yet.
func (p signInProfile) newUser(req *plazav1.CreateSessionRequest) people.User {
	u := people.User{ID: p.userID, PublicID: req.GetUserId(), DisplayName: cmp.Or(req.GetDisplayName(), req.GetUserId())}
	var c people.UserChange
	if p.handle.Set(&c); c.ProfileHandle != nil {
		u.ProfileHandle, u.HandleClaim = *c.ProfileHandle, *c.HandleClaim
	}
	return u
}

// change returns the changes of the profile.
func (p signInProfile) change(req *plazav1.CreateSessionRequest) (c people.UserChange) {
	if req.GetDisplayName() != "" && !p.keepsName {
		c.DisplayName = req.DisplayName
	}
	p.handle.Set(&c)
	return c
}
