package member

import (
	"context"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// JoinCommunity makes the caller a member of a public community without join approval.
func (s *Service) JoinCommunity(ctx context.Context, req *plazav1.JoinCommunityRequest) (*plazav1.CommunityResponse, error) {
	return s.update(ctx, change{communityID: req.GetCommunityId(), readPending: true, decide: decideJoin})
}

var errJoinApproval = fail.Forbidden("Joining this community requires approval: send a join request instead")

func decideJoin(s *state) (plan, error) {
	if err := s.RequireUser(); err != nil {
		return plan{}, err
	}
	switch {
	case s.mine.IsBanned():
		return plan{}, fail.Banned()
	case s.mine.IsMember():
		return plan{}, nil
	case !s.community.IsPublic || s.community.JoinApproval:
		return plan{}, errJoinApproval
	}
	u := s.Request.User()
	p := plan{changes: []communities.MemberChange{membership.Join(s.community.ID, u.ID, u.PublicID, s.mine, membership.MemberRoles(), s.now)}}
	if s.pending != nil { // the community required approval when the request was made
		p.answer = communities.JoinAnswer{Status: communities.JoinApproved}
	}
	return p, nil
}

// LeaveCommunity ends the membership of the caller, if there is one.
func (s *Service) LeaveCommunity(ctx context.Context, req *plazav1.LeaveCommunityRequest) (*plazav1.CommunityResponse, error) {
	return s.update(ctx, change{communityID: req.GetCommunityId(), decide: decideLeave})
}

func decideLeave(s *state) (plan, error) {
	if err := s.RequireUser(); err != nil || !s.mine.IsMember() {
		return plan{}, err
	}
	return plan{changes: []communities.MemberChange{membership.Leave(*s.mine, communities.StateLeft, s.now)}}, nil
}
