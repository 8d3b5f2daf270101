package invitation

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var errNotPending = fail.New(fail.CodeBadRequest, "The invitation is no longer pending")

// answer is the answer to an invitation.
type answer struct {
	*service.Request
	row *communities.Invitation
	now time.Time
}

// newAnswer starts a request about an invitation. One that does not exist is 400400.
func (s *Service) newAnswer(ctx context.Context, id string) *answer {
	a := &answer{Request: s.NewRequest(ctx), now: s.Now()}
	a.Invitation(id, &a.row)
	a.CheckFound(func() bool { return a.row != nil })
	return a
}

// loadReceived reads an invitation of the caller.
func (s *Service) loadReceived(ctx context.Context, id string) (*answer, error) {
	a := s.newAnswer(ctx, id)
	a.Check(a.RequireUser)
	a.CheckThat(func() bool { return a.row.InvitedID == a.Caller.UserID }, fail.NotAllowed())
	return a, a.Run(ctx)
}

// hasStatus reports whether the invitation already has the status that the answer gives it. It returns an error if
// the invitation is neither pending nor has the status.
func (a *answer) hasStatus(status string) (bool, error) {
	switch a.row.Status {
	case status:
		return true, nil
	case communities.JoinPending:
		return false, nil
	}
	return false, errNotPending
}

// AcceptInvitation makes the caller a member or a co-host.
func (s *Service) AcceptInvitation(ctx context.Context, req *plazav1.AcceptInvitationRequest) (*plazav1.SuccessResponse, error) {
	return service.RetryOnConflict(ctx, func() (*plazav1.SuccessResponse, error) {
		return service.Success(), s.accept(ctx, req.GetInvitationId())
	})
}

func (s *Service) accept(ctx context.Context, id string) error {
	a, err := s.loadReceived(ctx, id)
	if err != nil {
		return err
	}
	if done, err := a.hasStatus(communities.JoinApproved); done || err != nil {
		return err
	}
	t, err := s.loadTarget(ctx, a.row)
	if err != nil {
		return err
	}
	if t.kind == communities.InviteToRoom {
		return s.joinRoom(ctx, a, t)
	}
	return s.joinCommunity(ctx, a, t)
}

// loadTarget reads the target of an invitation. One that does not exist is 400400.
func (s *Service) loadTarget(ctx context.Context, i *communities.Invitation) (*target, error) {
	t := &target{kind: i.TargetType, id: i.TargetID}
	r := s.NewRequest(ctx)
	t.read(r)
	return t, r.Run(ctx)
}

// joinCommunity makes the caller a member, and approves the caller's pending join request.
func (s *Service) joinCommunity(ctx context.Context, a *answer, t *target) error {
	if t.mine.IsBanned() {
		return fail.Banned()
	}
	u := a.User()
	change := membership.Join(t.id, u.ID, u.PublicID, t.mine, membership.MemberRoles(), a.now)
	tx := s.Store.NewTx(s.HomeOf(t.id))
	t.guard(tx)
	tx.AnswerInvitation(a.row.ID, communities.JoinApproved, a.now, service.ErrConflict)
	update := membership.NewUpdate(tx, t.id, []communities.MemberChange{change}, a.now)
	by := communities.JoinAnswer{Status: communities.JoinApproved, ResponderID: a.row.InviterID, ResponderPublicID: a.row.InviterPublicID}
	tx.ResolveJoinRequests(t.id, []string{u.ID}, by, a.now)
	return update.Commit(ctx, s.Deps, u.ID, "")
}

// joinRoom makes the caller a co-host.
func (s *Service) joinRoom(ctx context.Context, a *answer, t *target) error {
	if !slices.Contains(live.OpenRoomStates(), t.room.Status) {
		return live.BadTransition("joining", t.room.Status)
	}
	u, old := a.User(), t.room.Participants
	tx := s.Store.NewTx(s.HomeOf(t.id))
	t.guard(tx)
	tx.AnswerInvitation(a.row.ID, communities.JoinApproved, a.now, service.ErrConflict)
	sent := s.emit(ctx, tx, "room.didCohostInviteAccept", *a.row)
	if !live.IsParticipant(t.room, u.ID) {
		tx.UpdateParticipants(t.id, old, append(slices.Clone(old), live.NewCoHost(*u)), a.now, service.ErrConflict)
		sent = append(sent, s.EmitChange(ctx, tx, "room.participantJoined", s.ParticipantChange(t.id, u.ID))...)
	}
	return s.CommitSoon(ctx, tx, sent...)
}

// RejectInvitation rejects an invitation of the caller.
func (s *Service) RejectInvitation(ctx context.Context, req *plazav1.RejectInvitationRequest) (*plazav1.SuccessResponse, error) {
	return s.end(ctx, communities.JoinRejected, func() (*answer, error) { return s.loadReceived(ctx, req.GetInvitationId()) })
}

// CancelInvitation cancels an invitation.
func (s *Service) CancelInvitation(ctx context.Context, req *plazav1.CancelInvitationRequest) (*plazav1.SuccessResponse, error) {
	return s.end(ctx, communities.JoinCancelled, func() (*answer, error) { return s.loadSent(ctx, req.GetInvitationId()) })
}

// loadSent reads an invitation that the caller made, or whose target the caller may invite to.
func (s *Service) loadSent(ctx context.Context, id string) (*answer, error) {
	a := s.newAnswer(ctx, id)
	if err := a.Run(ctx); err != nil {
		return nil, err
	}
	if a.row.InviterID != "" && a.row.InviterID == a.Caller.UserID {
		return a, nil
	}
	t, err := s.loadTarget(ctx, a.row)
	if err != nil {
		return nil, err
	}
	return a, t.requireInvite(a.Caller)
}

// resendInterval is the time between two notices of an invitation after the first one.
const resendInterval = 10 * time.Minute

// ResendInvitation notifies the invited user of a pending invitation again.
func (s *Service) ResendInvitation(ctx context.Context, req *plazav1.ResendInvitationRequest) (*plazav1.SuccessResponse, error) {
	return service.RetryOnConflict(ctx, func() (*plazav1.SuccessResponse, error) {
		a, err := s.loadSent(ctx, req.GetInvitationId())
		if err != nil {
			return nil, err
		}
		if req.GetCommunityId() != "" && req.GetCommunityId() != a.row.TargetID {
			return nil, fail.NotFound()
		}
		if err := a.requireResend(); err != nil {
			return nil, err
		}
		tx := s.Store.NewTx(s.HomeOf(a.row.ID))
		tx.ResendInvitation(*a.row, a.now, service.ErrConflict)
		told := s.EmitNotice(tx, service.Notice{Event: service.NoticeInvited, ID: a.row.ID})
		return service.Success(), s.CommitSoon(ctx, tx, append(s.emit(ctx, tx, "room.didCohostInvite", *a.row), told)...)
	})
}

// requireResend returns an error if the invitation is not pending or was resent a short time ago. While it is pending,
// only this changes it.
func (a *answer) requireResend() error {
	if a.row.Status != communities.JoinPending {
		return errNotPending
	}
	if wait := a.row.UpdatedAt.Add(resendInterval).Sub(a.now); wait > 0 && a.row.UpdatedAt.After(a.row.CreatedAt) {
		return fail.RateLimited("an invitation can be resent once in ten minutes", wait)
	}
	return nil
}

// endNames are the names of the realtime events about the end of an invitation of a co-host, by its status.
var endNames = map[string]string{
	communities.JoinRejected:  "room.didCohostInviteReject",
	communities.JoinCancelled: "room.didCohostInviteCancel",
}

// end ends a pending invitation with a status other than approved.
func (s *Service) end(ctx context.Context, status string, load func() (*answer, error)) (*plazav1.SuccessResponse, error) {
	return service.RetryOnConflict(ctx, func() (*plazav1.SuccessResponse, error) {
		a, err := load()
		if err != nil {
			return nil, err
		}
		if done, err := a.hasStatus(status); done || err != nil {
			return service.Success(), err
		}
		tx := s.Store.NewTx(s.HomeOf(a.row.ID))
		tx.AnswerInvitation(a.row.ID, status, a.now, service.ErrConflict)
		return service.Success(), s.CommitSoon(ctx, tx, s.emit(ctx, tx, endNames[status], *a.row)...)
	})
}
