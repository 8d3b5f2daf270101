package channel

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// BanChannelUsers bans users, members or not: they lose their membership and its roles and cannot join again. Nobody bans themselves.
func (s *Service) BanChannelUsers(ctx context.Context, req *plazav1.BanChannelUsersRequest) (*answer, error) {
	return s.moderate(ctx, req.GetChannelId(), req.GetUserIds(), auth.BanChannelUser, true, decideBan)
}

func decideBan(g *gathering, ids []string) ([]store.ChannelUserChange, error) {
	if slices.Contains(ids, g.Caller.UserID) {
		return nil, fail.Forbidden("Nobody can ban themselves")
	}
	var changes []store.ChannelUserChange
	for _, id := range ids {
		if old := g.user(id); old != nil {
			changes = append(changes, end(*old, store.ChannelBanned, g.now))
			continue
		}
		u := g.row(id)
		if u == nil {
			return nil, fail.NotFound()
		}
		stranger := chat.Join(g.Access.Channel.ID, id, u.PublicID, nil, nil, g.now)
		stranger.New.Membership = store.ChannelBanned
		changes = append(changes, stranger)
	}
	return changes, nil
}

// UnbanChannelUsers lifts bans: the users are no members, and may join again. Who is not banned stays as they are.
func (s *Service) UnbanChannelUsers(ctx context.Context, req *plazav1.UnbanChannelUsersRequest) (*answer, error) {
	return s.moderate(ctx, req.GetChannelId(), req.GetUserIds(), auth.BanChannelUser, false,
		func(g *gathering, _ []string) ([]store.ChannelUserChange, error) {
			return g.endings(store.ChannelBanned, store.ChannelNone), nil
		})
}

// MuteChannelUsers keeps members from writing, for a while or for ever; moderators write all the same. A mute outlasts leaving.
func (s *Service) MuteChannelUsers(ctx context.Context, req *plazav1.MuteChannelUsersRequest) (*plazav1.SuccessResponse, error) {
	_, err := s.moderate(ctx, req.GetChannelId(), req.GetUserIds(), auth.MuteChannelUser, false,
		func(g *gathering, ids []string) ([]store.ChannelUserChange, error) {
			until := mutedUntil(req.GetMutePeriod(), g.now)
			return g.members(ids, func(u *store.ChannelUser) { u.MutedUntil = until })
		})
	if err != nil {
		return nil, err
	}
	return &plazav1.SuccessResponse{Success: true}, nil
}

// members are changes of users who all have to be members.
func (g *gathering) members(ids []string, change func(*store.ChannelUser)) ([]store.ChannelUserChange, error) {
	var changes []store.ChannelUserChange
	for _, id := range ids {
		old := g.user(id)
		if !old.IsMember() {
			return nil, fail.NotFound()
		}
		c := store.ChannelUserChange{Old: old, New: *old}
		c.New.Roles = slices.Clone(old.Roles)
		change(&c.New)
		if c.Needed() {
			c.New.UpdatedAt = g.now
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// AddChannelUserRoles gives members a role; who has it already keeps it.
func (s *Service) AddChannelUserRoles(ctx context.Context, req *plazav1.AddChannelUserRolesRequest) (*answer, error) {
	return s.reassign(ctx, req.GetChannelId(), req.GetUserIds(), req.GetRole(), func(u *store.ChannelUser) {
		if !slices.Contains(u.Roles, req.GetRole()) {
			u.Roles = append(u.Roles, req.GetRole())
		}
	})
}

// RemoveChannelUserRoles takes a role from members.
func (s *Service) RemoveChannelUserRoles(ctx context.Context, req *plazav1.RemoveChannelUserRolesRequest) (*answer, error) {
	return s.reassign(ctx, req.GetChannelId(), req.GetUserIds(), req.GetRole(), func(u *store.ChannelUser) {
		u.Roles = slices.DeleteFunc(u.Roles, func(role string) bool { return role == req.GetRole() })
	})
}

func (s *Service) reassign(ctx context.Context, channelID string, publicIDs []string, role string, change func(*store.ChannelUser)) (*answer, error) {
	if r, ok := auth.RoleByID(role); !ok || r.Scope != auth.ChannelRole {
		return nil, fail.Validation("role: must be a role that is held in channels")
	}
	return s.moderate(ctx, channelID, publicIDs, auth.AssignChannelUserRole, false, func(g *gathering, ids []string) ([]store.ChannelUserChange, error) {
		return g.members(ids, change)
	})
}
