package member

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements MemberService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

// Register makes the outbox deliver memberships to the homes of the users whom they are about.
func Register(d *service.Deps) {
	d.Outbox.Handle(store.TopicMembership, func(ctx context.Context, row store.OutboxRow) error {
		var mirrored []store.MirroredMember
		if err := json.Unmarshal(row.Payload, &mirrored); err != nil || len(mirrored) == 0 {
			return err
		}
		home, err := region.HomeOf(mirrored[0].UserID)
		if err != nil {
			return err
		}
		tx := d.Store.NewTx(home)
		tx.MirrorMembers(mirrored)
		return tx.Commit(ctx)
	})
}

// situation is what an operation finds in the database.
type situation struct {
	*service.Request
	community store.Community
	mine      *store.Member // the caller's; nil for a stranger
	members   []store.Member
	users     []store.User
	pending   *store.JoinRequest // the caller's; read where the operation asks for it
	settings  store.Settings     // read, with the invitations of the concerned, where the operation asks for them
	invited   []store.Invitation
	now       time.Time
}

func (s *situation) scope() auth.Scope {
	return auth.Scope{OwnerID: s.community.CreatorID, Membership: visibility.MembershipOf(s.mine)}
}

func (s *situation) member(userID string) *store.Member {
	i := slices.IndexFunc(s.members, func(m store.Member) bool { return m.UserID == userID })
	if i < 0 {
		return nil
	}
	return &s.members[i]
}

func (s *situation) user(userID string) *store.User {
	i := slices.IndexFunc(s.users, func(u store.User) bool { return u.ID == userID })
	if i < 0 {
		return nil
	}
	return &s.users[i]
}

// plan is what an operation decided to do.
type plan struct {
	changes []store.MemberChange
	// mayEndModeration lets the last moderator go.
	mayEndModeration bool
	// settle says what becomes of the pending join requests of those concerned; nothing where its status is empty.
	settle store.JoinAnswer
	// invite are users to invite.
	invite []store.User
}

// operation is one way to change who belongs to a community.
type operation struct {
	communityID string
	userIDs     []string // internal ids of the concerned, each once
	// readUsers reads their rows too; readPending the caller's pending join request; readInvited the pending invitations of the
	// concerned, and the settings.
	readUsers, readPending, readInvited bool
	decide                              func(s *situation) (plan, error)
}

// change reads, decides and writes, again where somebody else got ahead, and answers with the community as it is then.
func (s *Service) change(ctx context.Context, o operation) (*plazav1.CommunityAggregate, error) {
	var found *situation
	var done plan
	err := store.UntilUnchanged(func() error {
		var err error
		if found, err = s.look(ctx, o); err != nil {
			return err
		}
		if done, err = o.decide(found); err != nil {
			return err
		}
		return s.carryOut(ctx, found, done)
	})
	if err != nil {
		return nil, err
	}
	answer := view.CommunityAnswer{Communities: []store.Community{found.community}, Viewer: found.User(), Users: found.users}
	for _, c := range done.changes {
		answer.Members = append(answer.Members, c.New)
	}
	aggregate, err := s.View.Communities(ctx, s.Store, answer)
	if err != nil {
		return nil, err
	}
	return aggregate, nil
}

// look reads what the operation has to know. A community that is not there, or hidden from the caller, is 400400.
func (s *Service) look(ctx context.Context, o operation) (*situation, error) {
	found := &situation{Request: s.NewRequest(ctx), now: s.Now()}
	var community *store.Community
	found.Community(o.communityID, &community)
	found.Members(o.communityID, o.userIDs, &found.members)
	if caller := found.Caller.UserID; caller != "" {
		found.Member(o.communityID, caller, &found.mine)
		if o.readPending {
			found.PendingJoinRequest(o.communityID, caller, &found.pending)
		}
	}
	if o.readInvited {
		found.Settings(s.Region, &found.settings)
		found.PendingInvitations(o.communityID, o.userIDs, &found.invited)
	}
	if o.readUsers {
		found.Users(o.userIDs, &found.users)
	}
	if err := found.Run(ctx); err != nil {
		return nil, err
	}
	if err := membership.RequireFind(found.Caller, community, found.mine); err != nil {
		return nil, err
	}
	found.community = *community
	return found, nil
}

// carryOut writes the plan in one transaction at the community's home.
func (s *Service) carryOut(ctx context.Context, found *situation, p plan) error {
	if !slices.ContainsFunc(p.changes, store.MemberChange.Needed) && len(p.invite) == 0 {
		return nil
	}
	home, err := region.HomeOf(found.community.ID)
	if err != nil {
		return fail.NotFound()
	}
	tx := s.Store.NewTx(home)
	tx.CommunityIsLive(found.community.ID)
	mirrors := tx.ChangeMembers(found.community.ID, p.changes, found.now, found.now.Add(events.Grace))
	if !p.mayEndModeration && endsModeration(p.changes) {
		tx.KeepModerator(found.community.ID, errLastModerator)
	}
	if p.settle.Status != "" {
		tx.SettleJoinRequests(found.community.ID, concerned(p.changes), p.settle, found.now)
	}
	for _, u := range p.invite {
		i := store.Invitation{
			ID: s.NewID(home), Type: store.InviteMember, TargetType: store.InviteToCommunity, TargetID: found.community.ID, CreatedAt: found.now,
		}
		tx.InsertInvitation(membership.NewInvitation(found.Request, i, u), store.ErrChanged)
	}
	outboxRows := events.Added(tx, found.community.ID, found.Caller.UserID, "", p.changes, mirrors, found.now)
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	s.Outbox.Deliver(ctx, home, mirrors...)
	s.Outbox.DeliverSoon(ctx, home, outboxRows...)
	return nil
}

var errLastModerator = fail.Forbidden("The last moderator cannot go while the community has other members: make one of them a moderator first")

// endsModeration reports whether a moderator is among those who are none any more.
func endsModeration(changes []store.MemberChange) bool {
	return slices.ContainsFunc(changes, func(c store.MemberChange) bool { return c.Old.IsModerator() && !c.New.IsModerator() })
}

func concerned(changes []store.MemberChange) []string {
	ids := make([]string, len(changes))
	for i, c := range changes {
		ids[i] = c.New.UserID
	}
	return ids
}

// resolve returns the internal ids of the users that a request names, each once, and whether all of them are known.
func (s *Service) resolve(ctx context.Context, publicIDs []string) (ids []string, all bool, err error) {
	found, err := s.Directory.Resolve(ctx, publicIDs...)
	if err != nil {
		return nil, false, err
	}
	all = true
	for _, publicID := range publicIDs {
		id := found[publicID]
		switch {
		case id == "":
			all = false
		case !slices.Contains(ids, id):
			ids = append(ids, id)
		}
	}
	return ids, all, nil
}

// responder is how the caller's answer to a join request is kept; an administrator has no account to name.
func responder(r *service.Request, status string) store.JoinAnswer {
	a := store.JoinAnswer{Status: status}
	if u := r.User(); u != nil {
		a.ResponderID, a.ResponderPublicID = u.ID, u.PublicID
	}
	return a
}
