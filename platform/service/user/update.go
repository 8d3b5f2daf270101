package user

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// UpdateUser changes a profile: the caller's own, or anybody's for those who may edit users. Network roles, and the mark
// of a brand, take the right to assign roles.
func (s *Service) UpdateUser(ctx context.Context, req *plazav1.UpdateUserRequest) (*plazav1.UserAggregate, error) {
	r := s.NewRequest(ctx)
	avatar := fileref.Read(r.ReadBatch, fileref.Avatar(req.AvatarFileId))
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	userID, err := s.target(ctx, r.Caller, req.GetUserId())
	if err != nil {
		return nil, err
	}
	if err := auth.Require(r.Caller, auth.EditUser, auth.Scope{OwnerID: userID}); err != nil {
		return nil, err
	}
	if err := s.mayAssign(r.Caller, req.GetRoles(), req.IsBrand != nil || takesRoles(req)); err != nil {
		return nil, err
	}
	home, err := region.HomeOf(userID)
	if err != nil {
		return nil, fail.NotFound()
	}
	if err := avatar.Err(); err != nil {
		return nil, err
	}
	var user *store.User
	tx := s.Store.NewTx(home)
	tx.GuardTarget("user", userID, fail.NotFound())
	tx.UpdateUser(userID, change(req), s.Now(), &user)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.aggregate(*user), nil
}

// target is the internal id of the user to change; the caller where the request names nobody.
func (s *Service) target(ctx context.Context, caller *auth.Caller, publicID string) (string, error) {
	if publicID == "" {
		return caller.UserID, nil
	}
	return s.Directory.ResolveOne(ctx, publicID)
}

// takesRoles reports whether a request leaves the user without network roles.
func takesRoles(req *plazav1.UpdateUserRequest) bool {
	return len(req.GetRoles()) == 0 && slices.Contains(req.GetClear(), "roles")
}

// mayAssign refuses what the network says of a user, and not the user: roles, and with marked whether it has none or is a brand.
func (s *Service) mayAssign(caller *auth.Caller, roles []string, marked bool) error {
	if len(roles) == 0 && !marked {
		return nil
	}
	if err := auth.Require(caller, auth.AssignUserRole, auth.Scope{}); err != nil {
		return err
	}
	for _, id := range roles {
		role, ok := s.View.Catalog.Find(id)
		if !ok || role.Scope != auth.NetworkRole {
			return fail.Validation("roles: there is no network role " + id)
		}
		for _, p := range role.Permissions { // or whoever may assign roles could give themselves everything
			if err := auth.Require(caller, p, auth.Scope{}); err != nil {
				return err
			}
		}
	}
	return nil
}

func change(req *plazav1.UpdateUserRequest) store.UserChange {
	c := store.UserChange{
		DisplayName: req.DisplayName, ProfileHandle: req.ProfileHandle, Description: req.Description,
		AvatarFileID: req.AvatarFileId, AvatarCustomURL: req.AvatarCustomUrl, IsBrand: req.IsBrand,
	}
	if len(req.GetRoles()) > 0 || takesRoles(req) {
		c.Roles = append([]string{}, req.GetRoles()...)
	}
	if req.GetMetadata() != nil {
		c.Metadata = view.ObjectJSON(req.GetMetadata())
	}
	return c
}
