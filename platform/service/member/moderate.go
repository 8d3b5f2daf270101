package member

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/service/internal/roster"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// AddMembers makes users members. If the network setting membershipAcceptance is `invitation`, it invites them
// instead, unless the caller is an administrator, who has no account to invite with. Members stay as they are. Banned
// users are 400304.
func (s *Service) AddMembers(ctx context.Context, req *plazav1.AddMembersRequest) (*plazav1.CommunityResponse, error) {
	return s.moderate(ctx, auth.AddCommunityUser, req.GetUserIds(), change{
		communityID: req.GetCommunityId(), readUsers: true, readInvited: true, decide: decideAdd,
	})
}

func decideAdd(s *state) (plan, error) {
	if err := s.blocks.RequireFound(); err != nil {
		return plan{}, err
	}
	changes, err := s.Add()
	p := plan{changes: changes, answer: membership.AnswerBy(s.Request, communities.JoinApproved)}
	if s.settings.MembershipAcceptance != network.AcceptInvitation || s.Request.User() == nil {
		return p, err
	}
	p.changes = slices.DeleteFunc(p.changes, func(c communities.MemberChange) bool {
		isInvited := slices.ContainsFunc(s.invited, func(i communities.Invitation) bool { return i.InvitedID == c.New.UserID })
		if !c.Old.IsMember() && !isInvited {
			p.invite = append(p.invite, *service.UserByID(s.Roster.Users, c.New.UserID))
		}
		return !c.Old.IsMember()
	})
	return p, err
}

// RemoveMembers ends the memberships of users. Users who are not members stay as they are.
func (s *Service) RemoveMembers(ctx context.Context, req *plazav1.RemoveMembersRequest) (*plazav1.CommunityResponse, error) {
	return s.moderate(ctx, auth.RemoveCommunityUser, req.GetUserIds(), change{
		communityID: req.GetCommunityId(), acts: true, decide: func(s *state) (plan, error) { return plan{changes: s.Remove()}, nil },
	})
}

// BanMembers bans users, members or not: they lose their membership and roles, and cannot join again. Only moderators
// of the whole network can ban the last moderator.
func (s *Service) BanMembers(ctx context.Context, req *plazav1.BanMembersRequest) (*plazav1.CommunityResponse, error) {
	return s.moderate(ctx, auth.BanCommunityUser, req.GetUserIds(), change{
		communityID: req.GetCommunityId(), acts: true, decide: decideBan,
	})
}

func decideBan(s *state) (plan, error) {
	changes, err := s.Ban()
	return plan{
		changes:          changes,
		mayEndModeration: auth.Permits(s.Caller, auth.BanCommunityUser, auth.Scope{}),
		answer:           membership.AnswerBy(s.Request, communities.JoinRejected),
	}, err
}

// UnbanMembers lifts bans: the users are not members, and may join again. Users who are not banned stay as they are.
func (s *Service) UnbanMembers(ctx context.Context, req *plazav1.UnbanMembersRequest) (*plazav1.CommunityResponse, error) {
	return s.moderate(ctx, auth.BanCommunityUser, req.GetUserIds(), change{
		communityID: req.GetCommunityId(), decide: func(s *state) (plan, error) { return plan{changes: s.Unban()}, nil },
	})
}

// AddMemberRoles gives roles to members, in addition to those that they have.
func (s *Service) AddMemberRoles(ctx context.Context, req *plazav1.AddMemberRolesRequest) (*plazav1.CommunityResponse, error) {
	return s.setRoles(ctx, req, roster.WithRoles)
}

// RemoveMemberRoles takes roles from members. The last moderator of a community with other members keeps the role.
func (s *Service) RemoveMemberRoles(ctx context.Context, req *plazav1.RemoveMemberRolesRequest) (*plazav1.CommunityResponse, error) {
	return s.setRoles(ctx, req, roster.WithoutRoles)
}

// roleRequest is AddMemberRolesRequest or RemoveMemberRolesRequest.
type roleRequest interface {
	GetCommunityId() string
	GetUserIds() []string
	GetRoles() []string
	GetRole() string
}

// setRoles gives members the roles that edit returns for the roles they have and those of the request.
func (s *Service) setRoles(
	ctx context.Context, req roleRequest, edit func(have, roles []string) []string,
) (*plazav1.CommunityResponse, error) {
	roles, err := rolesOf(req)
	if err != nil {
		return nil, err
	}
	return s.moderate(ctx, auth.AssignCommunityUserRole, req.GetUserIds(), change{
		communityID: req.GetCommunityId(), acts: true, decide: func(s *state) (plan, error) {
			changes, err := s.Edit(func(m communities.Member) communities.MemberChange {
				return membership.SetRoles(m, edit(m.Roles, roles), s.now)
			})
			return plan{changes: changes}, err
		},
	})
}

// rolesOf returns the roles of a request, which must be roles that members of a community can have.
func rolesOf(req roleRequest) ([]string, error) {
	roles := slices.Clone(req.GetRoles())
	if role := req.GetRole(); role != "" && !slices.Contains(roles, role) {
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
