package joinrequest

import (
	"context"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ApproveJoin makes the requesting user a member. A user who was banned since is 400304.
func (s *Service) ApproveJoin(ctx context.Context, req *plazav1.ApproveJoinRequest) (*plazav1.SuccessResponse, error) {
	err := store.UntilUnchanged(func() error {
		d, err := s.decision(ctx, req.GetCommunityId(), req.GetUserId())
		if err != nil {
			return err
		}
		if d.member.IsBanned() {
			return fail.Banned()
		}
		return s.approve(ctx, d)
	})
	if err != nil {
		return nil, err
	}
	return success(), nil
}

func (s *Service) approve(ctx context.Context, d decision) error {
	change := membership.Join(d.community.ID, d.pending.RequestorID, d.pending.RequestorPublicID, d.member, membership.MemberRoles(), d.now)
	tx := s.Store.NewTx(d.home)
	tx.CommunityIsLive(d.community.ID)
	tx.AnswerJoinRequest(d.community.ID, d.pending.RequestorID, d.saying(store.JoinApproved), d.now)
	mirrors := tx.ChangeMembers(d.community.ID, []store.MemberChange{change}, d.now, d.now.Add(events.Grace))
	outboxRows := events.Added(tx, d.community.ID, d.Caller.UserID, "", []store.MemberChange{change}, mirrors, d.now)
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	s.Outbox.Deliver(ctx, d.home, mirrors...)
	s.Outbox.DeliverSoon(ctx, d.home, outboxRows...)
	return nil
}

// RejectJoin rejects the user's pending request. A caller who may not decide is 400300; a community that is not there,
// and a user without a pending request, are 400400.
func (s *Service) RejectJoin(ctx context.Context, req *plazav1.RejectJoinRequest) (*plazav1.SuccessResponse, error) {
	d, err := s.decision(ctx, req.GetCommunityId(), req.GetUserId())
	if err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(d.home)
	tx.AnswerJoinRequest(d.community.ID, d.pending.RequestorID, d.saying(store.JoinRejected), d.now)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return success(), nil
}

// decision is a moderator's, about one user's pending request.
type decision struct {
	*situation
	pending *store.JoinRequest
	member  *store.Member // the requesting user's; nil where there never was one
}

// decision reads what a decision needs. userID is the requesting user's public or internal id.
func (s *Service) decision(ctx context.Context, communityID, userID string) (decision, error) {
	internalID, err := s.Directory.ResolveOne(ctx, userID)
	if err != nil {
		return decision{}, err
	}
	found, err := s.begin(ctx, communityID)
	if err != nil {
		return decision{}, err
	}
	d := decision{situation: found}
	if internalID != "" {
		found.PendingJoinRequest(communityID, internalID, &d.pending)
		found.Member(communityID, internalID, &d.member)
	}
	if err := found.run(ctx); err != nil {
		return d, err
	}
	if err := found.requireModerator(); err != nil {
		return d, err
	}
	if d.pending == nil {
		return d, fail.NotFound()
	}
	return d, nil
}

// saying is the answer with the caller's name on it; an administrator has no account to name.
func (d decision) saying(status string) store.JoinAnswer {
	a := store.JoinAnswer{Status: status}
	if u := d.User(); u != nil {
		a.ResponderID, a.ResponderPublicID = u.ID, u.PublicID
	}
	return a
}
