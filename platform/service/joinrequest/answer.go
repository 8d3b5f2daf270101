package joinrequest

import (
	"context"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ApproveJoin makes the requestor a member. A requestor who was banned after the request is 400304.
func (s *Service) ApproveJoin(ctx context.Context, req *plazav1.ApproveJoinRequest) (*plazav1.SuccessResponse, error) {
	return service.RetryOnConflict(ctx, func() (*plazav1.SuccessResponse, error) {
		a, err := s.loadAnswer(ctx, req.GetCommunityId(), req.GetUserId())
		if err != nil {
			return nil, err
		}
		if a.member.IsBanned() {
			return nil, fail.Banned()
		}
		return service.Success(), s.approve(ctx, a)
	})
}

func (s *Service) approve(ctx context.Context, a *answer) error {
	id := a.community.ID
	change := membership.Join(id, a.pending.RequestorID, a.pending.RequestorPublicID, a.member, membership.MemberRoles(), a.now)
	tx := s.Store.NewTx(a.home)
	tx.GuardCommunity(id)
	tx.AnswerJoinRequest(id, a.pending.RequestorID, membership.AnswerBy(a.Request, communities.JoinApproved), a.now)
	s.EmitNotice(tx, service.Notice{Event: service.NoticeJoinApproved, ID: id, OtherID: a.pending.RequestorID, ActorID: a.Caller.UserID})
	return membership.NewUpdate(tx, id, []communities.MemberChange{change}, a.now).Commit(ctx, s.Deps, a.Caller.UserID, "")
}

// RejectJoin rejects the pending request of a user. A caller who may not answer requests gets 400300. A community
// that does not exist and a user without a pending request are 400400.
func (s *Service) RejectJoin(ctx context.Context, req *plazav1.RejectJoinRequest) (*plazav1.SuccessResponse, error) {
	a, err := s.loadAnswer(ctx, req.GetCommunityId(), req.GetUserId())
	if err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(a.home)
	tx.AnswerJoinRequest(a.community.ID, a.pending.RequestorID, membership.AnswerBy(a.Request, communities.JoinRejected), a.now)
	told := s.EmitNotice(tx, service.Notice{
		Event: service.NoticeJoinRejected, ID: a.community.ID, OtherID: a.pending.RequestorID, ActorID: a.Caller.UserID,
	})
	return service.Success(), s.CommitSoon(ctx, tx, told)
}

// answer is a moderator's answer to the pending request of a user.
type answer struct {
	*state
	pending *communities.JoinRequest
	member  *communities.Member // the requestor's; nil if the requestor never was a member
}

// loadAnswer reads what an answer needs. userID is the public or internal id of the requestor.
func (s *Service) loadAnswer(ctx context.Context, communityID, userID string) (*answer, error) {
	a := &answer{state: s.newState(ctx, communityID)}
	if internalID := a.Resolve(ctx, userID); internalID != "" {
		a.PendingJoinRequest(communityID, internalID, &a.pending)
		a.Member(communityID, internalID, &a.member)
	}
	a.Check(a.requireModerator)
	a.CheckFound(func() bool { return a.pending != nil })
	return a, a.Run(ctx)
}
