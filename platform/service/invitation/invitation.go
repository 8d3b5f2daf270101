package invitation

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements InvitationService.
type Service struct{ *service.Deps }

// New returns the service.
func New(d *service.Deps) *Service { return &Service{d} }

// target is the community or room of an invitation.
type target struct {
	kind      string // store.InviteToCommunity or store.InviteToRoom
	id        string
	community *communities.Community
	mine      *communities.Member // the caller's; nil if the caller never was a member
	room      *media.Room
}

// read adds the reads of the target to a request, and the check that it exists. A malformed id reads nothing.
func (t *target) read(r *service.Request) {
	r.Check(t.require)
	if t.kind == communities.InviteToRoom {
		r.Room(t.id, &t.room)
		return
	}
	membership.Read(r, t.id, &t.community, &t.mine)
}

// require returns 400400 if the target does not exist.
func (t *target) require() error {
	if t.kind == communities.InviteToCommunity {
		return membership.RequireExists(t.community)
	}
	if t.room == nil || t.room.DeletedAt != nil {
		return fail.NotFound()
	}
	return nil
}

// requireInvite returns an error unless the caller may invite to the target.
func (t *target) requireInvite(caller *auth.Caller) error {
	if t.kind == communities.InviteToRoom {
		return live.RequireChange(caller, t.room.CreatorID)
	}
	if err := membership.RequireDiscoverable(caller, t.community, t.mine); err != nil {
		return err
	}
	return membership.Require(caller, auth.AddCommunityUser, t.community, t.mine)
}

// requireRead returns an error unless the caller may list the invitations to the target.
func (t *target) requireRead(caller *auth.Caller) error {
	if t.kind == communities.InviteToRoom && live.IsParticipant(t.room, caller.UserID) {
		return nil
	}
	return t.requireInvite(caller)
}

// guard makes a transaction fail if the target was deleted or the room has ended.
func (t *target) guard(tx *store.Tx) {
	if t.kind == communities.InviteToRoom {
		tx.GuardRoomIn(t.id, live.OpenRoomStates(), service.ErrConflict)
		return
	}
	tx.GuardCommunity(t.id)
}

// checkType returns an error if the type of an invitation does not match the type of its target. Empty types match.
func checkType(kind, targetType string) error {
	want := communities.InviteMember
	if targetType == communities.InviteToRoom {
		want = communities.InviteCoHost
	}
	if kind != "" && targetType != "" && kind != want {
		return fail.Validation("type: must be " + want + " for the targetType " + targetType)
	}
	return nil
}

// page returns invitations with their inviters and invited users.
func (s *Service) page(ctx context.Context, rows []communities.Invitation, paging *plazav1.Paging) (*plazav1.InvitationResponse, error) {
	var ids []string
	for _, i := range rows {
		ids = append(ids, i.InvitedID, i.InviterID)
	}
	users, err := s.ReadUsers(ctx, service.SortedSet(ids))
	return &plazav1.InvitationResponse{
		Invitations: service.Map(rows, s.View.Invitation), Users: s.View.Users(ctx, users), Paging: paging,
	}, err
}

// emit writes the realtime event called name about invitations of co-hosts to the outbox of tx. There are none about other
// invitations.
func (s *Service) emit(ctx context.Context, tx *store.Tx, name string, invitations ...communities.Invitation) []core.OutboxRow {
	var changes []events.Change
	for _, i := range invitations {
		if i.TargetType == communities.InviteToRoom {
			changes = append(changes, s.CoHostInvitationChanges(i)...)
		}
	}
	return s.EmitChanges(ctx, tx, name, changes)
}

// position returns the sort key of an invitation.
func position(i communities.Invitation) (t time.Time, key, id string) { return i.CreatedAt, "", i.ID }
