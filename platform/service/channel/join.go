package channel

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Join makes the caller a member. Again changes nothing.
func (s *Service) JoinChannel(ctx context.Context, req *plazav1.JoinChannelRequest) (*answer, error) {
	return s.change(ctx, operation{channelID: req.GetChannelId(), decide: decideJoin})
}

func decideJoin(g *gathering) ([]store.ChannelUserChange, error) {
	if err := g.RequireUser(); err != nil {
		return nil, err
	}
	c, mine := g.Access.Channel, g.Access.User
	switch {
	case mine.IsBanned():
		return nil, fail.ChannelBanned()
	case mine.IsMember():
		return nil, nil
	case !c.IsPublic && !g.SeesAttached: // seen by those who see every channel
		return nil, fail.Forbidden("Nobody joins this channel: its moderators add users")
	}
	u := g.Request.User()
	return []store.ChannelUserChange{chat.Join(c.ID, u.ID, u.PublicID, mine, chat.MemberRoles(), g.now)}, nil
}

// LeaveChannel ends the caller's membership. Whoever is no member stays none.
func (s *Service) LeaveChannel(ctx context.Context, req *plazav1.LeaveChannelRequest) (*answer, error) {
	return s.change(ctx, operation{channelID: req.GetChannelId(), decide: func(g *gathering) ([]store.ChannelUserChange, error) {
		if err := g.RequireUser(); err != nil {
			return nil, err
		}
		if mine := g.Access.User; mine.IsMember() {
			return []store.ChannelUserChange{end(*mine, store.ChannelNone, g.now)}, nil
		}
		return nil, nil
	}})
}

// AddChannelUsers makes users members. Who is one already stays as they are; one who is banned has to be unbanned first.
func (s *Service) AddChannelUsers(ctx context.Context, req *plazav1.AddChannelUsersRequest) (*answer, error) {
	return s.moderate(ctx, req.GetChannelId(), req.GetUserIds(), auth.AddChannelUser, true, decideAdd)
}

func decideAdd(g *gathering, ids []string) ([]store.ChannelUserChange, error) {
	var changes []store.ChannelUserChange
	for _, id := range ids {
		u, old := g.row(id), g.user(id)
		switch {
		case u == nil || u.DeletedAt != nil:
			return nil, fail.NotFound()
		case old.IsBanned():
			return nil, fail.ChannelBanned()
		}
		changes = append(changes, chat.Join(g.Access.Channel.ID, id, u.PublicID, old, chat.MemberRoles(), g.now))
	}
	return changes, nil
}

// RemoveChannelUsers ends the memberships of users. Who is no member stays as they are.
func (s *Service) RemoveChannelUsers(ctx context.Context, req *plazav1.RemoveChannelUsersRequest) (*answer, error) {
	return s.moderate(ctx, req.GetChannelId(), req.GetUserIds(), auth.RemoveChannelUser, false,
		func(g *gathering, _ []string) ([]store.ChannelUserChange, error) {
			return g.endings(store.ChannelMember, store.ChannelNone), nil
		})
}
