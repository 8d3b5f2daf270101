package member

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// AddMemberRoles gives members roles; those that they have already stay.
func (s *Service) AddMemberRoles(ctx context.Context, req *plazav1.AddMemberRolesRequest) (*plazav1.CommunityResponse, error) {
	return s.reassign(ctx, req, func(have, roles []string) []string {
		for _, role := range roles {
			if !slices.Contains(have, role) {
				have = append(have, role)
			}
		}
		return have
	})
}

// RemoveMemberRoles takes roles from members. The last moderator of a community that has members stays one.
func (s *Service) RemoveMemberRoles(ctx context.Context, req *plazav1.RemoveMemberRolesRequest) (*plazav1.CommunityResponse, error) {
	return s.reassign(ctx, req, func(have, roles []string) []string {
		return slices.DeleteFunc(have, func(role string) bool { return slices.Contains(roles, role) })
	})
}

// roleRequest is what both requests look like.
type roleRequest interface {
	GetCommunityId() string
	GetUserIds() []string
	GetRoles() []string
	GetRole() string
}

// reassign gives members the roles that apply makes of those they have, which it may keep, and of those requested.
func (s *Service) reassign(ctx context.Context, m roleRequest, apply func(have, roles []string) []string) (*plazav1.CommunityResponse, error) {
	roles, err := rolesOf(m)
	if err != nil {
		return nil, err
	}
	ids, all, err := s.resolve(ctx, m.GetUserIds())
	if err != nil {
		return nil, err
	}
	return s.change(ctx, operation{communityID: m.GetCommunityId(), userIDs: ids, decide: func(s *situation) (plan, error) {
		if err := auth.Require(s.Caller, auth.AssignCommunityUserRole, s.scope()); err != nil {
			return plan{}, err
		}
		if !all {
			return plan{}, fail.NotFound()
		}
		var p plan
		for _, id := range ids {
			old := s.member(id)
			if !old.IsMember() {
				return plan{}, fail.NotFound()
			}
			p.changes = append(p.changes, membership.SetRoles(*old, apply(slices.Clone(old.Roles), roles), s.now))
		}
		return p, nil
	}})
}

// rolesOf returns the roles of a request, at least one, all of which can be held in a community.
func rolesOf(m roleRequest) ([]string, error) {
	roles := slices.Clone(m.GetRoles())
	if role := m.GetRole(); role != "" && !slices.Contains(roles, role) {
		roles = append(roles, role)
	}
	if len(roles) == 0 {
		return nil, fail.Validation("roles: must name at least one role")
	}
	for _, id := range roles {
		role, ok := auth.RoleByID(id)
		if !ok || (role.Scope != auth.CommunityRole && role.Scope != auth.ChannelRole) {
			return nil, fail.Validation("roles: must be roles of a community")
		}
	}
	return roles, nil
}
