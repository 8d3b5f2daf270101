package channel

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/roster"
	"github.com/plaza-social/plaza/platform/store/messaging"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// AddChannelUsers makes users members. Members stay as they are. Banned users are 400304.
func (s *Service) AddChannelUsers(ctx context.Context, req *plazav1.AddChannelUsersRequest) (*plazav1.ChannelResponse, error) {
	return s.moderate(ctx, auth.AddChannelUser, req.GetUserIds(), change{
		channelID: req.GetChannelId(), readUsers: true,
		decide: func(s *rosterState) ([]messaging.ChannelUserChange, error) {
			if err := s.blocks.RequireFound(); err != nil {
				return nil, err
			}
			return s.Add()
		},
	})
}

// RemoveChannelUsers ends the memberships of users. Users who are not members stay as they are.
func (s *Service) RemoveChannelUsers(ctx context.Context, req *plazav1.RemoveChannelUsersRequest) (*plazav1.ChannelResponse, error) {
	return s.moderate(ctx, auth.RemoveChannelUser, req.GetUserIds(), change{
		channelID: req.GetChannelId(), acts: true,
		decide: func(s *rosterState) ([]messaging.ChannelUserChange, error) { return s.Remove(), nil },
	})
}

// BanChannelUsers bans users, members or not: they lose their membership and roles, and cannot join again.
func (s *Service) BanChannelUsers(ctx context.Context, req *plazav1.BanChannelUsersRequest) (*plazav1.ChannelResponse, error) {
	return s.moderate(ctx, auth.BanChannelUser, req.GetUserIds(), change{
		channelID: req.GetChannelId(), acts: true,
		decide: func(s *rosterState) ([]messaging.ChannelUserChange, error) { return s.Ban() },
	})
}

// UnbanChannelUsers lifts bans: the users are not members, and may join again. Users who are not banned stay as they
// are.
func (s *Service) UnbanChannelUsers(ctx context.Context, req *plazav1.UnbanChannelUsersRequest) (*plazav1.ChannelResponse, error) {
	return s.moderate(ctx, auth.BanChannelUser, req.GetUserIds(), change{
		channelID: req.GetChannelId(),
		decide:    func(s *rosterState) ([]messaging.ChannelUserChange, error) { return s.Unban(), nil },
	})
}

// MuteChannelUsers keeps members from writing for a period or permanently. Moderators can write in spite of it. A
// mute continues when the user leaves and joins again.
func (s *Service) MuteChannelUsers(ctx context.Context, req *plazav1.MuteChannelUsersRequest) (*plazav1.SuccessResponse, error) {
	_, err := s.moderate(ctx, auth.MuteChannelUser, req.GetUserIds(), change{
		channelID: req.GetChannelId(), acts: true,
		decide: func(s *rosterState) ([]messaging.ChannelUserChange, error) {
			until := mutedUntil(req.GetMutePeriod(), s.now)
			return s.Edit(func(u messaging.ChannelUser) messaging.ChannelUserChange { return chat.Mute(u, until, s.now) })
		},
	})
	return service.Success(), err
}

// endOfTime is when a permanent mute ends: the last millisecond that clients can parse.
var endOfTime = time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC)

// permanently is the mutePeriod of a permanent mute.
const permanently = -1

// mutedUntil returns when a mute ends. period is in milliseconds: a negative one is permanent, and one of less than a
// millisecond unmutes.
func mutedUntil(period float64, now time.Time) *time.Time {
	switch {
	case period < 0:
		return &endOfTime
	case period < 1:
		return nil
	}
	until := now.Add(time.Duration(period) * time.Millisecond)
	return &until
}

// AddChannelUserRoles gives a role to members.
func (s *Service) AddChannelUserRoles(ctx context.Context, req *plazav1.AddChannelUserRolesRequest) (*plazav1.ChannelResponse, error) {
	return s.setRoles(ctx, req, roster.WithRoles)
}

// RemoveChannelUserRoles takes a role from members.
func (s *Service) RemoveChannelUserRoles(
	ctx context.Context, req *plazav1.RemoveChannelUserRolesRequest,
) (*plazav1.ChannelResponse, error) {
	return s.setRoles(ctx, req, roster.WithoutRoles)
}

// roleRequest is AddChannelUserRolesRequest or RemoveChannelUserRolesRequest.
type roleRequest interface {
	GetChannelId() string
	GetUserIds() []string
	GetRole() string
}

// setRoles gives members the roles that edit returns for the roles they have and that of the request.
func (s *Service) setRoles(
	ctx context.Context, req roleRequest, edit func(have, roles []string) []string,
) (*plazav1.ChannelResponse, error) {
	if role, ok := auth.RoleByID(req.GetRole()); !ok || role.Scope != auth.ChannelRole {
		return nil, fail.Validation("role: must be a role of a channel")
	}
	return s.moderate(ctx, auth.AssignChannelUserRole, req.GetUserIds(), change{
		channelID: req.GetChannelId(), acts: true,
		decide: func(s *rosterState) ([]messaging.ChannelUserChange, error) {
			return s.Edit(func(u messaging.ChannelUser) messaging.ChannelUserChange {
				return chat.SetRoles(u, edit(u.Roles, []string{req.GetRole()}), s.now)
			})
		},
	})
}
