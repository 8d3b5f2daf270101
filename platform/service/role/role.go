// Package role shows the roles of the network. They are built in.
package role

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements RoleService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

// ListRoles lists the roles whose id or name holds the keyword. They were all made at once: an order by time is the order
// of their rank.
func (s *Service) ListRoles(ctx context.Context, req *connect.Request[plazav1.ListRolesRequest]) (*connect.Response[plazav1.ListRolesResponse], error) {
	cursor, err := page.Parse(req.Msg.GetOptions(), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	if err := s.Begin(ctx).Run(ctx); err != nil {
		return nil, err
	}
	found := ranked(req.Msg)
	if cursor.Back {
		slices.Reverse(found)
	}
	if i := slices.IndexFunc(found, func(r rankedRole) bool { return r.id == cursor.ID }); i >= 0 {
		found = found[i+1:]
	}
	found, paging := page.Window(cursor, found[:min(len(found), cursor.Limit+1)], func(r rankedRole) (time.Time, string, string) { return time.Unix(0, 0), "", r.id })
	roles := make([]*plazav1.Role, len(found))
	for i, r := range found {
		roles[i] = s.View.Role(r.Role)
	}
	return connect.NewResponse(&plazav1.ListRolesResponse{Status: "success", Data: roles, Roles: roles, Paging: paging}), nil
}

// rankedRole is a role with what page tokens call it: roles are built in and have no row, so it is no row's id.
type rankedRole struct {
	auth.Role
	id string
}

// ranked returns the roles that match, in the order of the list.
func ranked(m *plazav1.ListRolesRequest) []rankedRole {
	var found []rankedRole
	for i, r := range auth.Builtin() {
		if matches(r, m.GetKeyword()) {
			found = append(found, rankedRole{Role: r, id: fmt.Sprintf("01%022x", i)})
		}
	}
	switch m.GetSortBy() {
	case "displayName":
		slices.SortFunc(found, func(a, b rankedRole) int { return cmp.Compare(a.DisplayName, b.DisplayName) })
	case "firstCreated":
		slices.Reverse(found)
	}
	return found
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
