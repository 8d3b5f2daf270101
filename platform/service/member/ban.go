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

// BanMembers bans users, members or not: they lose their membership and its roles and cannot join again. Only those who
// moderate the whole network can ban the last moderator, and nobody bans themselves.
func (s *Service) BanMembers(ctx context.Context, req *plazav1.BanMembersRequest) (*plazav1.CommunityResponse, error) {
	ids, all, err := s.resolve(ctx, req.GetUserIds())
	if err != nil {
		return nil, err
	}
	return s.change(ctx, operation{communityID: req.GetCommunityId(), userIDs: ids, readUsers: true, decide: func(s *situation) (plan, error) {
		if err := auth.Require(s.Caller, auth.BanCommunityUser, s.scope()); err != nil {
			return plan{}, err
		}
		if !all {
			return plan{}, fail.NotFound()
		}
		return decideBan(s, ids)
	}})
}

func decideBan(s *situation, ids []string) (plan, error) {
	if slices.Contains(ids, s.Caller.UserID) {
		return plan{}, fail.Forbidden("Nobody can ban themselves")
	}
	p := plan{
		mayEndModeration: auth.Allowed(s.Caller, auth.BanCommunityUser, auth.Scope{}),
		settle:           responder(s.Request, store.JoinRejected),
	}
	for _, id := range ids {
		if old := s.member(id); old != nil {
			p.changes = append(p.changes, membership.Leave(*old, store.StateBanned, s.now))
			continue
		}
		u := s.user(id)
		if u == nil {
			return plan{}, fail.NotFound()
		}
		stranger := membership.Join(s.community.ID, id, u.PublicID, nil, nil, s.now)
		stranger.New.State = store.StateBanned
		p.changes = append(p.changes, stranger)
	}
	return p, nil
}

// UnbanMembers lifts bans: the users are no members, and may join again. Who is not banned stays as they are.
func (s *Service) UnbanMembers(ctx context.Context, req *plazav1.UnbanMembersRequest) (*plazav1.CommunityResponse, error) {
	ids, all, err := s.resolve(ctx, req.GetUserIds())
	if err != nil {
		return nil, err
	}
	return s.change(ctx, operation{communityID: req.GetCommunityId(), userIDs: ids, decide: func(s *situation) (plan, error) {
		if err := auth.Require(s.Caller, auth.BanCommunityUser, s.scope()); err != nil {
			return plan{}, err
		}
		if !all {
			return plan{}, fail.NotFound()
		}
		return plan{changes: s.endings(store.StateBanned, store.StateRemoved)}, nil
	}})
}
