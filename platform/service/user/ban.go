package user

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// BanUser bans a user from the whole network: all of the user's calls fail from then on.
func (s *Service) BanUser(ctx context.Context, req *plazav1.BanUserRequest) (*plazav1.UserResponse, error) {
	return s.setBan(ctx, req.GetUserId(), true)
}

// UnbanUser lifts the ban.
func (s *Service) UnbanUser(ctx context.Context, req *plazav1.UnbanUserRequest) (*plazav1.UserResponse, error) {
	return s.setBan(ctx, req.GetUserId(), false)
}

// setBan bans or unbans a user.
func (s *Service) setBan(ctx context.Context, publicID string, banned bool) (*plazav1.UserResponse, error) {
	userID, err := s.Directory.ResolveOne(ctx, publicID)
	if err != nil {
		return nil, err
	}
	var rows []store.User
	r := s.NewPrivilegedRequest(ctx, auth.BanUser)
	r.Users([]string{userID}, &rows)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fail.NotFound()
	}
	if s.outranks(rows[0], r.Caller) {
		return nil, fail.NotAllowed()
	}
	var user *store.User
	tx := s.Store.NewTx(service.HomeOf(userID))
	tx.GuardTarget("user", userID, fail.NotFound())
	tx.BanUser(userID, banned, s.Now(), &user)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.aggregate(ctx, *user), nil
}

// outranks reports whether the user has the MANAGE_ADMIN permission and the caller does not. Moderators cannot ban
// the users who appoint moderators.
func (s *Service) outranks(user store.User, caller *auth.Caller) bool {
	administers := slices.Contains(s.View.Catalog.PermissionsOf(user.Roles), string(auth.ManageAdmin))
	return administers && !auth.Allowed(caller, auth.ManageAdmin, auth.Scope{})
}
