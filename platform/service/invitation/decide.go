package invitation

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// errAnswered refuses to answer what was answered otherwise.
var errAnswered = fail.New(fail.CodeBadRequest, "The invitation is not pending any more")

// decision is about one invitation.
type decision struct {
	*service.Request
	row *store.Invitation
	now time.Time
}

// load reads an invitation; one that is not there is 400400.
func (s *Service) load(ctx context.Context, id string) (*decision, error) {
	d := &decision{Request: s.NewRequest(ctx), now: s.Now()}
	d.Invitation(id, &d.row)
	if err := d.Run(ctx); err != nil {
		return nil, err
	}
	if d.row == nil {
		return nil, fail.NotFound()
	}
	return d, nil
}

// loadMine is load, for who is invited.
func (s *Service) loadMine(ctx context.Context, id string) (*decision, error) {
	d, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := d.RequireUser(); err != nil {
		return nil, err
	}
	if d.row.InvitedID != d.Caller.UserID {
		return nil, fail.NotAllowed()
	}
	return d, nil
}

// isDone tells whether the invitation has come to a state already; it refuses one that has come to another.
func (d *decision) isDone(status string) (bool, error) {
	switch d.row.Status {
	case status:
		return true, nil
	case store.JoinPending:
		return false, nil
	}
	return false, errAnswered
}

// AcceptInvitation makes the caller a member or a co-host.
func (s *Service) AcceptInvitation(ctx context.Context, req *plazav1.AcceptInvitationRequest) (*plazav1.SuccessResponse, error) {
	err := store.UntilUnchanged(func() error {
		d, err := s.loadMine(ctx, req.GetInvitationId())
		if err != nil {
			return err
		}
		if done, err := d.isDone(store.JoinApproved); done || err != nil {
			return err
		}
		t := &target{kind: d.row.TargetType, id: d.row.TargetID}
		if err := s.look(ctx, t); err != nil {
			return err
		}
		if t.kind == store.InviteToRoom {
			return s.takePart(ctx, d, t)
		}
		return s.join(ctx, d, t)
	})
	if err != nil {
		return nil, err
	}
	return success(), nil
}

// look reads a target, once the caller is known.
func (s *Service) look(ctx context.Context, t *target) error {
	r := s.NewRequest(ctx)
	t.read(r)
	if err := r.Run(ctx); err != nil {
		return err
	}
	return t.require()
}

// join makes the caller a member. A request to join that waits is approved with it.
func (s *Service) join(ctx context.Context, d *decision, t *target) error {
	if t.mine.IsBanned() {
		return fail.Banned()
	}
	u := d.User()
	change := membership.Join(t.id, u.ID, u.PublicID, t.mine, membership.MemberRoles(), d.now)
	tx := s.Store.NewTx(service.HomeOf(t.id))
	t.guard(tx)
	tx.AnswerInvitation(d.row.ID, store.JoinApproved, d.now, store.ErrChanged)
	mirrors := tx.ChangeMembers(t.id, []store.MemberChange{change}, d.now, d.now.Add(events.Grace))
	by := store.JoinAnswer{Status: store.JoinApproved, ResponderID: d.row.InviterID, ResponderPublicID: d.row.InviterPublicID}
	tx.SettleJoinRequests(t.id, []string{u.ID}, by, d.now)
	outboxRows := events.Added(tx, t.id, u.ID, "", []store.MemberChange{change}, mirrors, d.now)
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	s.Outbox.Deliver(ctx, tx.Home(), mirrors...)
	s.Outbox.DeliverSoon(ctx, tx.Home(), outboxRows...)
	return nil
}

// takePart makes the caller a co-host.
func (s *Service) takePart(ctx context.Context, d *decision, t *target) error {
	if !slices.Contains(live.OpenRoomStates(), t.room.Status) {
		return live.BadTransition("joining", t.room.Status)
	}
	u, old := d.User(), t.room.Participants
	tx := s.Store.NewTx(service.HomeOf(t.id))
	t.guard(tx)
	tx.AnswerInvitation(d.row.ID, store.JoinApproved, d.now, store.ErrChanged)
	if !live.IsParticipant(t.room, u.ID) {
		tx.ChangeParticipants(t.id, old, append(slices.Clone(old), live.NewCoHost(*u)), d.now, store.ErrChanged)
	}
	return tx.Commit(ctx)
}

// RejectInvitation turns an invitation down.
func (s *Service) RejectInvitation(ctx context.Context, req *plazav1.RejectInvitationRequest) (*plazav1.SuccessResponse, error) {
	return s.end(ctx, store.JoinRejected, func() (*decision, error) { return s.loadMine(ctx, req.GetInvitationId()) })
}

// CancelInvitation takes an invitation back.
func (s *Service) CancelInvitation(ctx context.Context, req *plazav1.CancelInvitationRequest) (*plazav1.SuccessResponse, error) {
	return s.end(ctx, store.JoinCancelled, func() (*decision, error) { return s.loadTheirs(ctx, req.GetInvitationId()) })
}

// loadTheirs is load, for who made the invitation, and for those who may invite to its target.
func (s *Service) loadTheirs(ctx context.Context, id string) (*decision, error) {
	d, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	if d.row.InviterID != "" && d.row.InviterID == d.Caller.UserID {
		return d, nil
	}
	t := &target{kind: d.row.TargetType, id: d.row.TargetID}
	if err := s.look(ctx, t); err != nil {
		return nil, err
	}
	return d, t.requireInvite(d.Caller)
}

// end brings an invitation to a state that changes nothing else.
func (s *Service) end(ctx context.Context, status string, load func() (*decision, error)) (*plazav1.SuccessResponse, error) {
	err := store.UntilUnchanged(func() error {
		d, err := load()
		if err != nil {
			return err
		}
		if done, err := d.isDone(status); done || err != nil {
			return err
		}
		tx := s.Store.NewTx(service.HomeOf(d.row.ID))
		tx.AnswerInvitation(d.row.ID, status, d.now, store.ErrChanged)
		return tx.Commit(ctx)
	})
	if err != nil {
		return nil, err
	}
	return success(), nil
}
