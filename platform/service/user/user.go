// Package user implements UserService: the profiles of users. Package session creates a user with their first session.
package user

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements UserService.
type Service struct{ *service.Deps }

// New returns the service.
func New(d *service.Deps) *Service { return &Service{d} }

func (s *Service) aggregate(ctx context.Context, rows ...people.User) *plazav1.UserResponse {
	return &plazav1.UserResponse{Users: s.View.Users(ctx, rows)}
}

// GetUser gets one user by public id, or by internal id if type is `internal`.
func (s *Service) GetUser(ctx context.Context, req *plazav1.GetUserRequest) (*plazav1.UserResponse, error) {
	rows, err := s.read(ctx, []string{req.GetUserId()}, req.GetType() == "internal")
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fail.NotFound()
	}
	return s.aggregate(ctx, rows...), nil
}

// BatchGetUsers gets several users in the order of the request. Unknown users are left out.
func (s *Service) BatchGetUsers(ctx context.Context, req *plazav1.BatchGetUsersRequest) (*plazav1.UserResponse, error) {
	rows, err := s.read(ctx, req.GetUserIds(), false)
	return s.aggregate(ctx, rows...), err
}

// read reads users in the order of the ids.
func (s *Service) read(ctx context.Context, ids []string, internal bool) ([]people.User, error) {
	var rows []people.User
	r := s.NewRequest(ctx)
	if internal {
		ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !region.ValidID(id) })
	} else {
		resolved, _, err := s.ResolveUsers(ctx, ids)
		ids = resolved
		r.Fail(err)
	}
	r.Users(ids, &rows)
	blockers := contact.ReadBlockers(r)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	return withoutBlockers(ctx, r.Caller, rows, blockers)
}

// withoutBlockers removes the users who block the caller: a block hides the profile. Moderators of users see all.
func withoutBlockers(ctx context.Context, caller *auth.Caller, rows []people.User, blockers *contact.Hidden) ([]people.User, error) {
	if auth.Permits(caller, auth.ModerateUser, auth.Scope{}) {
		return rows, nil
	}
	return contact.Without(ctx, blockers, rows, func(u people.User) string { return u.ID })
}
