package member

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// JoinCommunity makes the caller a member at once, where the community lets everybody in. Again changes nothing.
func (s *Service) JoinCommunity(ctx context.Context, req *plazav1.JoinCommunityRequest) (*plazav1.CommunityResponse, error) {
	return s.change(ctx, operation{communityID: req.GetCommunityId(), readPending: true, decide: decideJoin})
}

func decideJoin(s *situation) (plan, error) {
	if err := s.RequireUser(); err != nil {
		return plan{}, err
	}
	switch {
	case s.mine.IsBanned():
		return plan{}, fail.Banned()
	case s.mine.IsMember():
		return plan{}, nil
	case !s.community.IsPublic || s.community.JoinApproval:
		return plan{}, fail.Forbidden("This community decides who joins: send a request to join")
	}
	u := s.User()
	p := plan{changes: []store.MemberChange{membership.Join(s.community.ID, u.ID, u.PublicID, s.mine, membership.MemberRoles(), s.now)}}
	if s.pending != nil { // of a time when a moderator decided
		p.settle = store.JoinAnswer{Status: store.JoinApproved}
	}
	return p, nil
}

// LeaveCommunity ends the caller's membership. Whoever is no member stays none.
func (s *Service) LeaveCommunity(ctx context.Context, req *plazav1.LeaveCommunityRequest) (*plazav1.CommunityResponse, error) {
	return s.change(ctx, operation{communityID: req.GetCommunityId(), decide: decideLeave})
}

func decideLeave(s *situation) (plan, error) {
	if err := s.RequireUser(); err != nil {
		return plan{}, err
	}
	if !s.mine.IsMember() {
		return plan{}, nil
	}
	return plan{changes: []store.MemberChange{membership.Leave(*s.mine, store.StateLeft, s.now)}}, nil
}

// AddMembers makes users members; where the network wants users to accept, it invites them instead, unless an administrator adds
// them, who has no account to invite with. Who is one already stays as they are; one who is banned has to be unbanned first.
func (s *Service) AddMembers(ctx context.Context, req *plazav1.AddMembersRequest) (*plazav1.CommunityResponse, error) {
	ids, all, err := s.resolve(ctx, req.GetUserIds())
	if err != nil {
		return nil, err
	}
	return s.change(ctx, operation{communityID: req.GetCommunityId(), userIDs: ids, readUsers: true, readInvited: true, decide: func(s *situation) (plan, error) {
		if err := auth.Require(s.Caller, auth.AddCommunityUser, s.scope()); err != nil {
			return plan{}, err
		}
		if !all {
			return plan{}, fail.NotFound()
		}
		return decideAdd(s, ids)
	}})
}

func decideAdd(s *situation, ids []string) (plan, error) {
	p := plan{settle: responder(s.Request, store.JoinApproved)}
	for _, id := range ids {
		u, old := s.user(id), s.member(id)
		switch {
		case u == nil || u.DeletedAt != nil:
			return plan{}, fail.NotFound()
		case old.IsBanned():
			return plan{}, fail.Banned()
		case s.invites() && !old.IsMember():
			if !s.isInvited(id) {
				p.invite = append(p.invite, *u)
			}
			continue
		}
		p.changes = append(p.changes, membership.Join(s.community.ID, id, u.PublicID, old, membership.MemberRoles(), s.now))
	}
	return p, nil
}

// invites reports whether the caller invites whom they would add.
func (s *situation) invites() bool {
	return s.settings.MembershipAcceptance == store.AcceptInvitation && s.User() != nil
}

func (s *situation) isInvited(userID string) bool {
	return slices.ContainsFunc(s.invited, func(i store.Invitation) bool { return i.InvitedID == userID })
}

// RemoveMembers ends the memberships of users. Who is no member stays as they are.
func (s *Service) RemoveMembers(ctx context.Context, req *plazav1.RemoveMembersRequest) (*plazav1.CommunityResponse, error) {
	ids, all, err := s.resolve(ctx, req.GetUserIds())
	if err != nil {
		return nil, err
	}
	return s.change(ctx, operation{communityID: req.GetCommunityId(), userIDs: ids, decide: func(s *situation) (plan, error) {
		if err := auth.Require(s.Caller, auth.RemoveCommunityUser, s.scope()); err != nil {
			return plan{}, err
		}
		if !all {
			return plan{}, fail.NotFound()
		}
		return plan{changes: s.endings(store.StateMember, store.StateRemoved)}, nil
	}})
}

// endings take those of the concerned who are in one state to another; the others stay as they are, and in the answer.
func (s *situation) endings(from, to string) []store.MemberChange {
	var changes []store.MemberChange
	for _, m := range s.members {
		if m.State == from {
			changes = append(changes, membership.Leave(m, to, s.now))
		} else {
			changes = append(changes, store.MemberChange{Old: &m, New: m})
		}
	}
	return changes
}
