package invitation

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var (
	errMember  = fail.AlreadyExists("The user is a member of this community already")
	errPresent = fail.AlreadyExists("The user takes part in this room already")
	errDirect  = fail.New(fail.CodeBadRequest, "Only rooms of type coHosts have co-hosts")
)

// CreateInvitations invites users, all of them or none. Somebody unknown is 400400, who belongs there already 400315, and who is
// banned from the community 400304.
func (s *Service) CreateInvitations(ctx context.Context, req *plazav1.CreateInvitationsRequest) (*plazav1.InvitationAggregate, error) {
	if err := fits(req.GetType(), req.GetTargetType()); err != nil {
		return nil, err
	}
	found, err := s.Directory.Resolve(ctx, req.GetUserIds()...)
	if err != nil {
		return nil, err
	}
	d := draft{kind: req.GetType(), target: target{kind: req.GetTargetType(), id: req.GetTargetId()}}
	for _, publicID := range req.GetUserIds() {
		if id := found[publicID]; !slices.Contains(d.ids, id) {
			d.ids = append(d.ids, id)
		}
	}
	err = store.UntilUnchanged(func() error { return s.invite(ctx, &d) })
	if err != nil {
		return nil, err
	}
	return s.page(ctx, d.rows, &plazav1.Paging{})
}

// draft is an invitation of several users, under way.
type draft struct {
	*service.Request
	target
	kind    string   // of invitation
	ids     []string // internal ids of the invited, each once; one is empty where somebody is unknown
	users   []store.User
	members []store.Member     // the invited users' memberships
	pending []store.Invitation // those that they have
	rows    []store.Invitation // the answer: in the order of ids
}

func (s *Service) invite(ctx context.Context, d *draft) error {
	d.Request, d.target = s.NewRequest(ctx), target{kind: d.target.kind, id: d.target.id}
	d.read(d.Request)
	d.Users(d.ids, &d.users)
	d.PendingInvitations(d.target.id, d.ids, &d.pending)
	if d.target.kind == store.InviteToCommunity {
		d.Members(d.target.id, d.ids, &d.members)
	}
	if err := d.Run(ctx); err != nil {
		return err
	}
	if err := d.check(); err != nil {
		return err
	}
	tx := s.Store.NewTx(service.HomeOf(d.target.id))
	d.guard(tx)
	d.rows = nil
	for _, u := range d.users {
		d.rows = append(d.rows, d.of(u, s.NewID(tx.Home())))
		if i := &d.rows[len(d.rows)-1]; i.CreatedAt.IsZero() {
			i.CreatedAt, i.UpdatedAt = s.Now(), s.Now()
			tx.InsertInvitation(*i, store.ErrChanged)
		}
	}
	return tx.Commit(ctx)
}

// of is the pending invitation of a user, or the one to be made, which has no times yet.
func (d *draft) of(u store.User, id string) store.Invitation {
	if at := slices.IndexFunc(d.pending, func(i store.Invitation) bool { return i.InvitedID == u.ID }); at >= 0 {
		return d.pending[at]
	}
	return membership.NewInvitation(d.Request, store.Invitation{ID: id, Type: d.kind, TargetType: d.target.kind, TargetID: d.target.id}, u)
}

// check refuses what may not be.
func (d *draft) check() error {
	if err := d.require(); err != nil {
		return err
	}
	if err := d.requireInvite(d.Caller); err != nil {
		return err
	}
	if r := d.room; r != nil && r.Type != "coHosts" {
		return errDirect
	}
	if r := d.room; r != nil && !slices.Contains(live.OpenRoomStates(), r.Status) {
		return live.BadTransition("inviting", r.Status)
	}
	if slices.Contains(d.ids, "") || len(d.users) < len(d.ids) {
		return fail.NotFound()
	}
	for _, u := range d.users {
		if err := d.checkUser(u); err != nil {
			return err
		}
	}
	return nil
}

func (d *draft) checkUser(u store.User) error {
	if u.DeletedAt != nil {
		return fail.NotFound()
	}
	if d.room != nil && live.IsParticipant(d.room, u.ID) {
		return errPresent
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
