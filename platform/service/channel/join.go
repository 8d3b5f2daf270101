package channel

import (
	"context"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store/messaging"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// JoinChannel makes the caller a member of a public or live channel.
func (s *Service) JoinChannel(ctx context.Context, req *plazav1.JoinChannelRequest) (*plazav1.ChannelResponse, error) {
	return s.updateRoster(ctx, change{channelID: req.GetChannelId(), decide: decideJoin})
}

var errInviteOnly = fail.Forbidden("This channel is invite-only")

func decideJoin(s *rosterState) ([]messaging.ChannelUserChange, error) {
	if err := s.RequireUser(); err != nil {
		return nil, err
	}
	c, mine := s.Access.Channel, s.Access.User
	switch {
	case mine.IsBanned():
		return nil, fail.ChannelBanned()
	case mine.IsMember():
		return nil, nil
	case !s.Access.CanJoin():
		return nil, errInviteOnly
	}
	u := s.Request.User()
	return []messaging.ChannelUserChange{chat.Join(c.ID, u.ID, u.PublicID, mine, chat.MemberRoles(), s.now)}, nil
}

// LeaveChannel ends the membership of the caller, if there is one.
func (s *Service) LeaveChannel(ctx context.Context, req *plazav1.LeaveChannelRequest) (*plazav1.ChannelResponse, error) {
	return s.updateRoster(ctx, change{channelID: req.GetChannelId(), decide: decideLeave})
}

func decideLeave(s *rosterState) ([]messaging.ChannelUserChange, error) {
	mine := s.Access.User
	if err := s.RequireUser(); err != nil || !mine.IsMember() {
		return nil, err
	}
	return []messaging.ChannelUserChange{chat.Leave(*mine, s.now)}, nil
}
