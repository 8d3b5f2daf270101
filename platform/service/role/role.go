// Package role shows the roles of the network. They are built in.
package role

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements RoleService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

// ListRoles lists the roles whose id or name holds the keyword. There are too few of them for a second page.
func (s *Service) ListRoles(ctx context.Context, req *connect.Request[plazav1.ListRolesRequest]) (*connect.Response[plazav1.ListRolesResponse], error) {
	if err := s.Begin(ctx).Run(ctx); err != nil {
		return nil, err
	}
	var roles []*plazav1.Role
	for _, r := range auth.Builtin() {
		if matches(r, req.Msg.GetKeyword()) {
			roles = append(roles, s.View.Role(r))
		}
	}
	if req.Msg.GetSortBy() == "displayName" {
		slices.SortFunc(roles, func(a, b *plazav1.Role) int { return cmp.Compare(a.GetDisplayName(), b.GetDisplayName()) })
	}
	return connect.NewResponse(&plazav1.ListRolesResponse{Status: "success", Data: roles, Roles: roles, Paging: &plazav1.Paging{}}), nil
}

func matches(r auth.Role, keyword string) bool {
	keyword = strings.ToLower(keyword)
	return strings.Contains(strings.ToLower(r.ID), keyword) || strings.Contains(strings.ToLower(r.DisplayName), keyword)
}

// GetRole gets one role.
func (s *Service) GetRole(ctx context.Context, req *connect.Request[plazav1.GetRoleRequest]) (*connect.Response[plazav1.GetRoleResponse], error) {
	if err := s.Begin(ctx).Run(ctx); err != nil {
		return nil, err
	}
	r, ok := auth.RoleByID(req.Msg.GetRoleId())
	if !ok {
		return nil, fail.NotFound()
	}
	return connect.NewResponse(&plazav1.GetRoleResponse{Roles: []*plazav1.Role{s.View.Role(r)}}), nil
}
