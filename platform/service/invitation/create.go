package invitation

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var (
	errMember      = fail.AlreadyExists("The user is already a member of this community")
	errParticipant = fail.AlreadyExists("The user is already a participant of this room")
	errNoCoHosts   = fail.New(fail.CodeBadRequest, "Only rooms of type coHosts can have co-hosts")
)

// CreateInvitations invites all of the users or none. An unknown user is 400400, a member or participant 400315, and
// a user who is banned from the community 400304.
func (s *Service) CreateInvitations(ctx context.Context, req *plazav1.CreateInvitationsRequest) (*plazav1.InvitationResponse, error) {
	if err := checkType(req.GetType(), req.GetTargetType()); err != nil {
		return nil, err
	}
	ids, all, err := s.ResolveUsers(ctx, req.GetUserIds())
	if err != nil {
		return nil, err
	}
	rows, err := service.RetryOnConflict(ctx, func() ([]communities.Invitation, error) {
		return s.invite(ctx, &draft{
			Request: s.NewRequest(ctx), target: target{kind: req.GetTargetType(), id: req.GetTargetId()}, kind: req.GetType(), ids: ids, all: all,
		})
	})
	if err != nil {
		return nil, err
	}
	return s.page(ctx, rows, &plazav1.Paging{})
}

// draft is an invitation of several users.
type draft struct {
	*service.Request
	target
	kind    string   // the type of the invitation
	ids     []string // internal ids of the invited users, without repetitions
	all     bool     // whether all invited users exist
	users   []people.User
	members []communities.Member     // the memberships of the users
	pending []communities.Invitation // the pending invitations of the users
}

// invite stores the invitations, and returns them in the order of the users. Users who are invited already keep their
// invitation.
func (s *Service) invite(ctx context.Context, d *draft) ([]communities.Invitation, error) {
	d.read(d.Request)
	d.Users(d.ids, &d.users)
	d.PendingInvitations(d.target.id, d.ids, &d.pending)
	if d.target.kind == communities.InviteToCommunity {
		d.Members(d.target.id, d.ids, &d.members)
	}
	blocks := contact.Read(d.Request, d.ids)
	d.Check(d.check)
	d.Check(blocks.RequireFound)
	if err := d.Run(ctx); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(s.HomeOf(d.target.id))
	d.guard(tx)
	var rows, invited []communities.Invitation
	var told []core.OutboxRow
	for _, u := range d.users {
		if old := service.Find(d.pending, func(i communities.Invitation) bool { return i.InvitedID == u.ID }); old != nil {
			rows = append(rows, *old)
			continue
		}
		i := membership.NewInvitation(d.Request, communities.Invitation{
			ID: s.NewID(tx.Home()), Type: d.kind, TargetType: d.target.kind, TargetID: d.target.id, CreatedAt: s.Now(), UpdatedAt: s.Now(),
		}, u)
		auth.Created(ctx, "invitation", i.ID)
		tx.InsertInvitation(i, service.ErrConflict)
		told = append(told, s.EmitNotice(tx, service.Notice{Event: service.NoticeInvited, ID: i.ID}))
		rows, invited = append(rows, i), append(invited, i)
	}
	return rows, s.CommitSoon(ctx, tx, append(told, s.emit(ctx, tx, "room.didCohostInvite", invited...)...)...)
}

// check returns an error unless the caller may invite the users to the target.
func (d *draft) check() error {
	if err := d.requireInvite(d.Caller); err != nil {
		return err
	}
	if r := d.room; r != nil && r.Type != "coHosts" {
		return errNoCoHosts
	}
	if r := d.room; r != nil && !slices.Contains(live.OpenRoomStates(), r.Status) {
		return live.BadTransition("inviting", r.Status)
	}
	if !d.all || len(d.users) < len(d.ids) {
		return fail.NotFound()
	}
	for _, u := range d.users {
		if err := d.checkUser(u); err != nil {
			return err
		}
	}
	return nil
}

// checkUser returns an error unless the user may be invited to the target.
func (d *draft) checkUser(u people.User) error {
	if u.DeletedAt != nil {
		return fail.NotFound()
	}
	if d.room != nil && live.IsParticipant(d.room, u.ID) {
		return errParticipant
	}
	for _, m := range d.members {
		switch {
		case m.UserID == u.ID && m.IsBanned():
			return fail.Banned()
		case m.UserID == u.ID && m.IsMember():
			return errMember
		}
	}
	return nil
}

// Invitations returns invitations that the caller has made.
func (s *Service) Invitations(ctx context.Context, ids []string) (*plazav1.InvitationResponse, error) {
	r := s.NewRequest(ctx)
	found := make([]*communities.Invitation, len(ids))
	for i, id := range ids {
		r.Invitation(id, &found[i])
	}
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	var rows []communities.Invitation
	for _, i := range found {
		if i != nil && i.InviterID == r.Caller.UserID {
			rows = append(rows, *i)
		}
	}
	return s.page(ctx, rows, &plazav1.Paging{})
}
