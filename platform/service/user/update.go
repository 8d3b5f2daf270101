package user

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/profile"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// UpdateUser changes the caller's profile, or that of another user, which requires EDIT_USER. So do display names unless the
// settings of the network allow users to change their own. Changing network roles
// or isBrand requires ASSIGN_USER_ROLE.
func (s *Service) UpdateUser(ctx context.Context, req *plazav1.UpdateUserRequest) (*plazav1.UserResponse, error) {
	var userID string
	r := s.NewRequest(ctx)
	avatar := fileref.Read(r.ReadBatch, fileref.Avatar(req.AvatarFileId))
	r.AfterRun(func(ctx context.Context) (err error) {
		userID, err = s.targetID(ctx, r.Caller, req.GetUserId())
		return err
	})
	r.Check(func() error { return auth.Require(r.Caller, auth.EditUser, auth.Scope{OwnerID: userID}) })
	r.AfterRun(func(ctx context.Context) error { return s.RequireOverOrSelf(ctx, r.Caller, userID) })
	r.Check(func() error { return s.requireAssign(r.Caller, req.GetRoles(), req.IsBrand != nil || clearsRoles(req)) })
	r.CheckFound(func() bool { return region.ValidID(userID) })
	r.AfterRun(func(ctx context.Context) error { return avatar.Settle(ctx, r, false) })
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	change := changeOf(req)
	handle, err := s.claimHandle(ctx, r.Caller, req, userID)
	if err != nil {
		return nil, err
	}
	handle.Set(&change)
	var user *people.User
	tx := s.Store.NewTx(s.HomeOf(userID))
	tx.GuardTarget("user", userID, fail.NotFound())
	tx.UpdateUser(userID, change, s.Now(), &user)
	if err := s.CommitChange(ctx, tx, "user.updated", s.UserChange(userID)); err != nil {
		return nil, err
	}
	handle.ReleaseOld(ctx)
	return s.aggregate(ctx, *user), nil
}

// claimHandle checks the texts that the request changes against the rules of the user's home, and claims the handle.
func (s *Service) claimHandle(
	ctx context.Context, caller *auth.Caller, req *plazav1.UpdateUserRequest, userID string,
) (profile.Handle, error) {
	if req.DisplayName == nil && req.ProfileHandle == nil && req.Description == nil && req.AvatarCustomUrl == nil {
		return profile.Handle{}, nil
	}
	var rows []people.User
	var settings network.Settings
	reads := s.Store.NewReadBatch()
	reads.Users([]string{userID}, &rows)
	reads.Settings(s.HomeOf(userID), &settings)
	rules := textrules.Read(s.Deps, reads, s.HomeOf(userID))
	if err := reads.Run(ctx); err != nil {
		return profile.Handle{}, err
	}
	if len(rows) == 0 {
		return profile.Handle{}, fail.NotFound()
	}
	old := rows[0]
	if err := requireRename(caller, settings, old, req.DisplayName); err != nil {
		return profile.Handle{}, err
	}
	err := rules.Require(ctx, caller, textrules.TextOfChanges(
		[2]*string{&old.DisplayName, req.DisplayName}, [2]*string{&old.ProfileHandle, req.ProfileHandle},
		[2]*string{&old.Description, req.Description},
	), textrules.LinkOfField(req.AvatarCustomUrl))
	if err != nil {
		return profile.Handle{}, err
	}
	return profile.ClaimHandle(ctx, s.Deps, old, req.ProfileHandle)
}

// errRename is the refusal of a new display name by the settings of the network.
var errRename = fail.Forbidden("Only administrators change display names")

// requireRename returns an error unless the settings of the network let the caller change the display name of a user.
func requireRename(caller *auth.Caller, settings network.Settings, old people.User, name *string) error {
	if settings.IsAllowUpdateDisplayName || name == nil || *name == old.DisplayName || auth.Permits(caller, auth.EditUser, auth.Scope{}) {
		return nil
	}
	return errRename
}

// targetID returns the internal id of the user to change, which is the caller if the request does not name one.
func (s *Service) targetID(ctx context.Context, caller *auth.Caller, publicID string) (string, error) {
	if publicID == "" {
		return caller.UserID, nil
	}
	return s.Directory.ResolveOne(ctx, publicID)
}

// clearsRoles reports whether a request removes all network roles of the user.
func clearsRoles(req *plazav1.UpdateUserRequest) bool {
	return len(req.GetRoles()) == 0 && slices.Contains(req.GetClear(), "roles")
}

// requireAssign returns an error unless the caller may assign the network roles. changesOther is whether the request
// removes all roles or sets isBrand, which requires the same permission.
func (s *Service) requireAssign(caller *auth.Caller, roles []string, changesOther bool) error {
	if len(roles) == 0 && !changesOther {
		return nil
	}
	if err := auth.Require(caller, auth.AssignUserRole, auth.Scope{}); err != nil {
		return err
	}
	for _, id := range roles {
		role, ok := s.View.Catalog.Find(id)
		if !ok || role.Scope != auth.NetworkRole {
			return fail.Validation("roles: unknown network role " + id)
		}
		for _, p := range role.Permissions { // otherwise callers could grant themselves permissions
			if err := auth.Require(caller, p, auth.Scope{}); err != nil {
				return err
			}
		}
	}
	return nil
}

func changeOf(req *plazav1.UpdateUserRequest) people.UserChange {
	c := people.UserChange{
		DisplayName: req.DisplayName, Description: req.Description,
		AvatarFileID: req.AvatarFileId, AvatarCustomURL: req.AvatarCustomUrl, IsBrand: req.IsBrand,
	}
	if len(req.GetRoles()) > 0 || clearsRoles(req) {
		c.Roles = append([]string{}, req.GetRoles()...)
	}
	if req.GetMetadata() != nil {
		c.Metadata = view.ObjectJSON(req.GetMetadata())
	}
	return c
}
