package event

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Refusals of answers.
var (
	errAnswered = fail.AlreadyExists("You have already answered; change the answer instead")
	errLate     = fail.New(fail.CodeBadRequest, "From 15 minutes before the start of the event an answer can only become not_going")
)

// fixedBefore is how long before the start of an event its answers can only become not_going.
const fixedBefore = 15 * time.Minute

// answer is the answer of the caller to an event.
type answer struct {
	*loaded
	mine       []content.EventRsvp // the caller's earlier answer, if any
	discussion *communities.Community
	member     *communities.Member // the caller's membership of the discussion community
}

// newAnswer starts a request that reads the caller's answer to an event.
func (s *Service) newAnswer(ctx context.Context, eventID string) *answer {
	a := &answer{loaded: s.newRequest(ctx, eventID)}
	a.Check(a.RequireUser)
	a.RsvpsOf([]string{eventID}, a.Caller.UserID, &a.mine)
	return a
}

// requireAnswer adds the checks that the caller may answer, and the reads of the discussion community.
func (a *answer) requireAnswer(now time.Time) {
	a.Check(func() error {
		if a.origin.Community != nil {
			if err := auth.RequireMember(a.Caller, a.origin.Scope("")); err != nil {
				return err
			}
		}
		if status := a.event.Status(now); status == content.EventEnded || status == content.EventCancelled {
			return errOver
		}
		return nil
	})
	a.AfterRun(func(ctx context.Context) error {
		reads := a.Deps.Store.NewReadBatch()
		if id := a.event.DiscussionCommunityID; id != "" {
			reads.Community(id, &a.discussion)
			reads.Member(id, a.Caller.UserID, &a.member)
		}
		return reads.Run(ctx)
	})
}

// CreateEventRsvp stores the first answer of the caller to an event.
func (s *Service) CreateEventRsvp(ctx context.Context, req *plazav1.CreateEventRsvpRequest) (*plazav1.EventRsvpResponse, error) {
	return service.RetryOnConflict(ctx, func() (*plazav1.EventRsvpResponse, error) {
		now := s.Now()
		a := s.newAnswer(ctx, req.GetEventId())
		a.requireAnswer(now)
		if err := a.Run(ctx); err != nil {
			return nil, err
		}
		if len(a.mine) > 0 {
			return nil, errAnswered
		}
		given := content.EventRsvp{EventID: a.event.ID, UserID: a.Caller.UserID, Status: req.GetStatus(), RespondedAt: now, CreatedAt: now}
		tx := s.Store.NewTx(s.HomeOf(a.event.ID))
		tx.InsertRsvp(given, errOver, errAnswered)
		return s.commit(ctx, tx, a, "event.rsvp.created", given)
	})
}

// UpdateEventRsvp changes the answer of the caller to an event. The same answer again changes nothing.
func (s *Service) UpdateEventRsvp(ctx context.Context, req *plazav1.UpdateEventRsvpRequest) (*plazav1.EventRsvpResponse, error) {
	return service.RetryOnConflict(ctx, func() (*plazav1.EventRsvpResponse, error) {
		now := s.Now()
		a := s.newAnswer(ctx, req.GetEventId())
		a.requireAnswer(now)
		a.CheckFound(func() bool { return len(a.mine) > 0 })
		if err := a.Run(ctx); err != nil {
			return nil, err
		}
		read := a.mine[0]
		if read.Status == req.GetStatus() {
			return a.respond(ctx, read)
		}
		if req.GetStatus() != content.RsvpNotGoing && !now.Before(a.event.StartTime.Add(-fixedBefore)) {
			return nil, errLate
		}
		given := read
		given.Status, given.RespondedAt = req.GetStatus(), now
		tx := s.Store.NewTx(s.HomeOf(a.event.ID))
		tx.UpdateRsvp(read, given, errOver, service.ErrConflict)
		return s.commit(ctx, tx, a, "event.rsvp.updated", given)
	})
}

// commit commits the transaction of an answer, together with the change of the membership in the discussion community and
// the realtime event called name.
func (s *Service) commit(
	ctx context.Context, tx *store.Tx, a *answer, name string, given content.EventRsvp,
) (*plazav1.EventRsvpResponse, error) {
	told := s.EmitChange(ctx, tx, name, s.EventRsvpChange(*a.event, given.UserID))
	changes := a.membership(given)
	var err error
	if len(changes) == 0 {
		err = s.CommitSoon(ctx, tx, told...)
	} else {
		update := membership.NewUpdate(tx, a.event.DiscussionCommunityID, changes, given.RespondedAt)
		err = update.Commit(ctx, s.Deps, a.Caller.UserID, "", told...)
	}
	if err != nil {
		return nil, err
	}
	return a.respond(ctx, given)
}

// membership returns the change of the caller's membership in the discussion community, if there is one. Moderators stay,
// and a ban stays in force.
func (a *answer) membership(given content.EventRsvp) []communities.MemberChange {
	going := given.Status == content.RsvpGoing
	switch {
	case a.discussion == nil || a.discussion.DeletedAt != nil || a.member.IsBanned():
		return nil
	case going && !a.member.IsMember():
		u := a.User()
		return []communities.MemberChange{membership.Join(a.discussion.ID, u.ID, u.PublicID, a.member, membership.MemberRoles(),
			given.RespondedAt)}
	case !going && a.member.IsMember() && !a.member.IsModerator():
		return []communities.MemberChange{membership.Leave(*a.member, communities.StateLeft, given.RespondedAt)}
	}
	return nil
}

func (a *answer) respond(ctx context.Context, given content.EventRsvp) (*plazav1.EventRsvpResponse, error) {
	response, err := a.load(ctx, *a.event, []content.EventRsvp{given})
	return view.Fill(response, &plazav1.EventRsvpResponse{}), err
}

// GetMyEventRsvp returns the answer of the caller to an event.
func (s *Service) GetMyEventRsvp(ctx context.Context, req *plazav1.GetMyEventRsvpRequest) (*plazav1.EventRsvpResponse, error) {
	a := s.newAnswer(ctx, req.GetEventId())
	a.CheckFound(func() bool { return len(a.mine) > 0 })
	if err := a.Run(ctx); err != nil {
		return nil, err
	}
	return a.respond(ctx, a.mine[0])
}
