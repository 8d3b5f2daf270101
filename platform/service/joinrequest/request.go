package joinrequest

import (
	"context"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var (
	errPending = fail.AlreadyExists("A request to join this community is pending already")
	errMember  = fail.AlreadyExists("The user is a member of this community already")
)

// RequestJoin asks to join. Where a moderator decides, the request is pending. Elsewhere, and where the caller is invited, the request
// is approved and the caller a member at once. A community that is hidden from the caller is 400400, unless they are invited.
//
// A second pending request is 400315. A member whose request was approved gets that request again, so that a client may
// repeat a call whose answer got lost; a member who never asked gets 400315.
func (s *Service) RequestJoin(ctx context.Context, req *plazav1.RequestJoinRequest) (*plazav1.JoinRequestAggregate, error) {
	var a asked
	err := store.UntilUnchanged(func() error {
		var err error
		a, err = s.ask(ctx, req.GetCommunityId())
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.answer(a.Request, a.request), nil
}

// asked is a request to join, under way.
type asked struct {
	*situation
	latest  *store.JoinRequest // the caller's latest before
	invited []store.Invitation // the caller's pending one, if any: it stands for a moderator's consent
	request store.JoinRequest  // the one to answer with
}

func (s *Service) ask(ctx context.Context, communityID string) (asked, error) {
	found, err := s.begin(ctx, communityID)
	if err != nil {
		return asked{}, err
	}
	a := asked{situation: found}
	found.LatestJoinRequest(communityID, found.Caller.UserID, &a.latest)
	if caller := found.Caller.UserID; caller != "" {
		found.PendingInvitations(communityID, []string{caller}, &a.invited)
	}
	if err := found.run(ctx); err != nil {
		return a, err
	}
	if err := a.check(); err != nil {
		return a, err
	}
	if a.mine.IsMember() {
		a.request = *a.latest
		return a, nil
	}
	return s.send(ctx, a)
}

// check refuses those who may not ask.
func (a *asked) check() error {
	if err := a.RequireUser(); err != nil {
		return err
	}
	if !a.isInvited() && !a.isPending() { // nor would they know of it otherwise
		if err := a.requireFind(); err != nil {
			return err
		}
	}
	switch {
	case a.mine.IsBanned():
		return fail.Banned()
	case a.mine.IsMember() && (a.latest == nil || a.latest.Status != store.JoinApproved):
		return errMember
	case a.mine.IsMember():
		return nil
	case a.needsApproval() && a.isPending():
		return errPending
	}
	return nil
}

func (a *asked) isInvited() bool { return len(a.invited) > 0 }

// needsApproval reports whether a moderator decides.
func (a *asked) needsApproval() bool { return a.community.JoinApproval && !a.isInvited() }

func (a *asked) isPending() bool { return a.latest != nil && a.latest.Status == store.JoinPending }

// send stores the request, and the membership where no moderator decides.
func (s *Service) send(ctx context.Context, a asked) (asked, error) {
	u := a.User()
	a.request = store.JoinRequest{
		CommunityID: a.community.ID, ID: s.NewID(a.home), RequestorID: u.ID, RequestorPublicID: u.PublicID,
		Status: store.JoinPending, CreatedAt: a.now, UpdatedAt: a.now,
	}
	tx := s.Store.NewTx(a.home)
	tx.CommunityIsLive(a.community.ID)
	if a.needsApproval() {
		tx.InsertJoinRequest(a.request, errPending)
		return a, tx.Commit(ctx)
	}
	a.approve(tx)
	for _, i := range a.invited {
		tx.AnswerInvitation(i.ID, store.JoinApproved, a.now, store.ErrChanged)
	}
	change := membership.Join(a.community.ID, u.ID, u.PublicID, a.mine, membership.MemberRoles(), a.now)
	mirrors := tx.ChangeMembers(a.community.ID, []store.MemberChange{change}, a.now, a.now.Add(events.Grace))
	outboxRows := events.Added(tx, a.community.ID, u.ID, "", []store.MemberChange{change}, mirrors, a.now)
	if err := tx.Commit(ctx); err != nil {
		return a, err
	}
	s.Outbox.Deliver(ctx, a.home, mirrors...)
	s.Outbox.DeliverSoon(ctx, a.home, outboxRows...)
	return a, nil
}

// approve makes the request an approved one: a new one, or the pending one of a time when a moderator decided.
func (a *asked) approve(tx *store.Tx) {
	if a.isPending() {
		a.request = *a.latest
		tx.AnswerJoinRequest(a.community.ID, a.request.RequestorID, store.JoinAnswer{Status: store.JoinApproved}, a.now)
	}
	a.request.Status, a.request.RespondedAt, a.request.UpdatedAt = store.JoinApproved, &a.now, a.now
	if !a.isPending() {
		tx.InsertJoinRequest(a.request, errPending)
	}
}

// CancelJoin withdraws the caller's pending request; without one it is 400400.
func (s *Service) CancelJoin(ctx context.Context, req *plazav1.CancelJoinRequest) (*plazav1.SuccessResponse, error) {
	found, err := s.begin(ctx, req.GetCommunityId())
	if err != nil {
		return nil, err
	}
	if err := found.run(ctx); err != nil {
		return nil, err
	}
	if err := found.RequireUser(); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(found.home)
	tx.AnswerJoinRequest(found.community.ID, found.Caller.UserID, store.JoinAnswer{Status: store.JoinCancelled}, found.now)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return success(), nil
}

// GetMyJoinRequest gets the caller's latest request to a community, or none.
func (s *Service) GetMyJoinRequest(ctx context.Context, req *plazav1.GetMyJoinRequestRequest) (*plazav1.JoinRequestAggregate, error) {
	found, err := s.begin(ctx, req.GetCommunityId())
	if err != nil {
		return nil, err
	}
	var latest *store.JoinRequest
	found.LatestJoinRequest(req.GetCommunityId(), found.Caller.UserID, &latest)
	if err := found.run(ctx); err != nil {
		return nil, err
	}
	if latest == nil { // a request of the caller's own is theirs to see, also where the community hid since
		if err := found.requireFind(); err != nil {
			return nil, err
		}
		return s.answer(found.Request), nil
	}
	return s.answer(found.Request, *latest), nil
}
