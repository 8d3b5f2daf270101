package invitation

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements InvitationService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

// target is the community or room of an invitation, and how the caller stands to it. One of the two is set.
type target struct {
	kind      string // store.InviteToCommunity or store.InviteToRoom
	id        string
	community *store.Community
	mine      *store.Member // the caller's; nil for a stranger
	room      *store.Room
}

// read adds the reads of a target to a round trip. An id without a home is one of nothing.
func (t *target) read(r *service.Request) {
	if t.kind == store.InviteToRoom {
		r.Room(t.id, &t.room)
		return
	}
	r.Community(t.id, &t.community)
	if r.Caller.UserID != "" {
		r.Member(t.id, r.Caller.UserID, &t.mine)
	}
}

// require returns 400400 for a target that is not there.
func (t *target) require() error {
	if t.kind == store.InviteToCommunity {
		return membership.RequireLive(t.community)
	}
	if t.room == nil || t.room.DeletedAt != nil {
		return fail.NotFound()
	}
	return nil
}

// requireInvite refuses callers who may not invite there.
func (t *target) requireInvite(caller *auth.Caller) error {
	if t.kind == store.InviteToRoom {
		return live.RequireChange(caller, t.room.CreatorID)
	}
	if err := membership.RequireFind(caller, t.community, t.mine); err != nil {
		return err
	}
	return auth.Require(caller, auth.AddCommunityUser, auth.Scope{OwnerID: t.community.CreatorID, Membership: visibility.MembershipOf(t.mine)})
}

// requireRead refuses callers who may not see who is invited.
func (t *target) requireRead(caller *auth.Caller) error {
	if t.kind == store.InviteToRoom && live.IsParticipant(t.room, caller.UserID) {
		return nil
	}
	return t.requireInvite(caller)
}

// guard refuses a transaction where the target is gone, or the room is over.
func (t *target) guard(tx *store.Tx) {
	if t.kind == store.InviteToRoom {
		tx.GuardRoomIn(t.id, live.OpenRoomStates(), store.ErrChanged)
		return
	}
	tx.CommunityIsLive(t.id)
}

// fits refuses a type of invitation that does not go with a type of target; an empty one fits.
func fits(kind, targetType string) error {
	want := store.InviteMember
	if targetType == store.InviteToRoom {
		want = store.InviteCoHost
	}
	if kind != "" && targetType != "" && kind != want {
		return fail.Validation("type: does not go with the targetType " + targetType)
	}
	return nil
}

// page answers with invitations, and with the users who invite and are invited.
func (s *Service) page(ctx context.Context, rows []store.Invitation, paging *plazav1.Paging) (*plazav1.InvitationAggregate, error) {
	answer := &plazav1.InvitationAggregate{Paging: paging}
	var ids []string
	for _, i := range rows {
		answer.Invitations = append(answer.Invitations, s.View.Invitation(i))
		ids = append(ids, i.InvitedID, i.InviterID)
	}
	slices.Sort(ids)
	var users []store.User
	reads := s.Store.NewBestEffortBatch()
	reads.Users(slices.Compact(ids), &users)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	answer.Users = s.View.Users(users)
	return answer, nil
}

func place(i store.Invitation) (t time.Time, key, id string) { return i.CreatedAt, "", i.ID }

func success() *plazav1.SuccessResponse {
	return &plazav1.SuccessResponse{Success: true}
}
