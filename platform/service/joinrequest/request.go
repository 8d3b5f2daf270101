package joinrequest

import (
	"context"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var (
	errPending = fail.AlreadyExists("A request to join this community is already pending")
	errMember  = fail.AlreadyExists("The user is already a member of this community")
)

// RequestJoin requests to join a community. If the community requires approval and the caller is not invited, the
// request is pending. Otherwise the request is approved, and the caller is a member when RequestJoin returns. A
// community that is hidden from the caller is 400400, unless the caller is invited.
//
// A second pending request is 400315. A member whose request was approved gets that request again, so that clients
// can retry a call whose response was lost. Other members get 400315.
func (s *Service) RequestJoin(ctx context.Context, req *plazav1.RequestJoinRequest) (*plazav1.JoinRequestResponse, error) {
	return service.RetryOnConflict(ctx, func() (*plazav1.JoinRequestResponse, error) {
		d, err := s.loadDraft(ctx, req.GetCommunityId())
		if err != nil {
			return nil, err
		}
		if d.mine.IsMember() {
			return s.respondOwn(ctx, d.Request, *d.latest), nil
		}
		d.request = s.newRequest(d)
		if err := s.store(ctx, d); err != nil {
			return nil, err
		}
		return s.respondOwn(ctx, d.Request, d.request), nil
	})
}

// draft is a join request to create.
type draft struct {
	*state
	latest  *communities.JoinRequest // the caller's latest request
	invited []communities.Invitation // the caller's pending invitation, which replaces the approval of a moderator
	request communities.JoinRequest
}

// loadDraft reads what the request needs, and checks that the caller may make it.
func (s *Service) loadDraft(ctx context.Context, communityID string) (*draft, error) {
	d := &draft{state: s.newState(ctx, communityID)}
	d.LatestJoinRequest(communityID, d.Caller.UserID, &d.latest)
	d.PendingInvitations(communityID, []string{d.Caller.UserID}, &d.invited)
	d.Check(d.check)
	return d, d.Run(ctx)
}

// check returns an error unless the caller may request to join.
func (d *draft) check() error {
	if err := d.RequireUser(); err != nil {
		return err
	}
	if !d.isInvited() && !d.isPending() {
		if err := d.requireDiscoverable(); err != nil {
			return err
		}
	}
	switch {
	case d.mine.IsBanned():
		return fail.Banned()
	case d.mine.IsMember() && (d.latest == nil || d.latest.Status != communities.JoinApproved):
		return errMember
	case d.mine.IsMember():
		return nil
	case d.needsApproval() && d.isPending():
		return errPending
	}
	return nil
}

func (d *draft) isInvited() bool { return len(d.invited) > 0 }

// needsApproval reports whether a moderator must approve the request.
func (d *draft) needsApproval() bool { return d.community.JoinApproval && !d.isInvited() }

func (d *draft) isPending() bool {
	return d.latest != nil && d.latest.Status == communities.JoinPending
}

func (s *Service) newRequest(d *draft) communities.JoinRequest {
	u := d.User()
	return communities.JoinRequest{
		CommunityID: d.community.ID, ID: s.NewID(d.home), RequestorID: u.ID, RequestorPublicID: u.PublicID,
		Status: communities.JoinPending, CreatedAt: d.now, UpdatedAt: d.now,
	}
}

// store stores the request, and the membership if no approval is required.
func (s *Service) store(ctx context.Context, d *draft) error {
	u := d.User()
	tx := s.Store.NewTx(d.home)
	tx.GuardCommunity(d.community.ID)
	if d.needsApproval() {
		tx.InsertJoinRequest(d.request, errPending)
		return s.CommitSoon(ctx, tx, s.EmitNotice(tx, service.Notice{Event: service.NoticeJoinRequested, ID: d.community.ID, OtherID: u.ID}))
	}
	d.approve(tx)
	for _, i := range d.invited {
		tx.AnswerInvitation(i.ID, communities.JoinApproved, d.now, service.ErrConflict)
	}
	change := membership.Join(d.community.ID, u.ID, u.PublicID, d.mine, membership.MemberRoles(), d.now)
	return membership.NewUpdate(tx, d.community.ID, []communities.MemberChange{change}, d.now).Commit(ctx, s.Deps, u.ID, "")
}

// approve approves the pending request, which was made when the community required approval, or inserts an approved
// one.
func (d *draft) approve(tx *store.Tx) {
	if d.isPending() {
		d.request = *d.latest
		tx.AnswerJoinRequest(d.community.ID, d.request.RequestorID, communities.JoinAnswer{Status: communities.JoinApproved}, d.now)
	}
	d.request.Status, d.request.RespondedAt, d.request.UpdatedAt = communities.JoinApproved, &d.now, d.now
	if !d.isPending() {
		tx.InsertJoinRequest(d.request, errPending)
	}
}

// CancelJoin cancels the caller's pending request. Without one it is 400400.
func (s *Service) CancelJoin(ctx context.Context, req *plazav1.CancelJoinRequest) (*plazav1.SuccessResponse, error) {
	found := s.newState(ctx, req.GetCommunityId())
	found.Check(found.RequireUser)
	return service.Success(), found.Write(ctx, req.GetCommunityId(), func(tx *store.Tx) {
		tx.AnswerJoinRequest(found.community.ID, found.Caller.UserID, communities.JoinAnswer{Status: communities.JoinCancelled}, found.now)
	})
}

// GetMyJoinRequest gets the caller's latest request to a community, if there is one.
func (s *Service) GetMyJoinRequest(ctx context.Context, req *plazav1.GetMyJoinRequestRequest) (*plazav1.JoinRequestResponse, error) {
	found := s.newState(ctx, req.GetCommunityId())
	var latest *communities.JoinRequest
	found.LatestJoinRequest(req.GetCommunityId(), found.Caller.UserID, &latest)
	if err := found.Run(ctx); err != nil {
		return nil, err
	}
	if latest == nil { // callers see their own requests even if the community is hidden from them now
		return s.respondOwn(ctx, found.Request), found.requireDiscoverable()
	}
	return s.respondOwn(ctx, found.Request, *latest), nil
}
