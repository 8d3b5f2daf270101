package member

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/service/internal/roster"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// change is a request to change who belongs to a community, or with which roles.
type change struct {
	communityID string
	permission  auth.Permission // that it requires in the community; empty if it is of the caller's own membership
	userIDs     []string        // internal ids of the users it names, without repetitions
	unknown     bool            // it names users who do not exist
	readUsers   bool            // read the rows of these users
	acts        bool            // it is done to these users, over whom the caller must have authority
	readPending bool            // read the pending join request of the caller
	readInvited bool            // read the settings and the pending invitations of these users
	decide      func(*state) (plan, error)
}

// state is what a change reads.
type state struct {
	*service.Request
	roster.Roster[communities.Member, communities.MemberChange]
	community *communities.Community
	mine      *communities.Member      // the caller's; nil if the caller never was a member
	pending   *communities.JoinRequest // the caller's
	settings  network.Settings
	blocks    *contact.Blocks
	invited   []communities.Invitation
	now       time.Time
}

// plan is what a change writes.
type plan struct {
	changes []communities.MemberChange
	// mayEndModeration allows to leave a community without a moderator.
	mayEndModeration bool
	// answer ends the pending join requests of the changed users, unless its status is empty.
	answer communities.JoinAnswer
	invite []people.User
}

// update carries out a change and returns the community with the changed memberships.
func (s *Service) update(ctx context.Context, c change) (*plazav1.CommunityResponse, error) {
	found, err := service.RetryOnConflict(ctx, func() (view.CommunityRows, error) {
		found, err := s.load(ctx, c)
		if err != nil {
			return view.CommunityRows{}, err
		}
		p, err := c.decide(found)
		if err != nil {
			return view.CommunityRows{}, err
		}
		a := view.CommunityRows{Communities: []communities.Community{*found.community}, Viewer: found.User(), Users: found.Roster.Users}
		a.Members = service.Map(p.changes, func(c communities.MemberChange) communities.Member { return c.New })
		return a, s.apply(ctx, found, p)
	})
	if err != nil {
		return nil, err
	}
	return s.View.LoadCommunities(ctx, s.Store, found)
}

// moderate is update for a change of the users with publicIDs that requires the permission p in the community.
func (s *Service) moderate(ctx context.Context, p auth.Permission, publicIDs []string, c change) (*plazav1.CommunityResponse, error) {
	ids, all, err := s.ResolveUsers(ctx, publicIDs)
	if err != nil {
		return nil, err
	}
	c.permission, c.userIDs, c.unknown = p, ids, !all
	return s.update(ctx, c)
}

// load reads the state. A community that does not exist or is hidden from the caller is 400400.
func (s *Service) load(ctx context.Context, c change) (*state, error) {
	found := &state{Request: s.NewRequest(ctx), now: s.Now()}
	found.Roster.CallerID, found.Roster.UserIDs, found.Roster.Rules = found.Caller.UserID, c.userIDs, rules(c.communityID, found.now)
	membership.Read(found.Request, c.communityID, &found.community, &found.mine)
	found.Members(c.communityID, c.userIDs, &found.Entries)
	if c.readPending {
		found.PendingJoinRequest(c.communityID, found.Caller.UserID, &found.pending)
	}
	found.blocks = contact.Read(found.Request, c.userIDs)
	if c.readInvited {
		found.Settings(s.Region, &found.settings)
		found.PendingInvitations(c.communityID, c.userIDs, &found.invited)
	}
	if c.readUsers || c.acts {
		found.ReadBatch.Users(c.userIDs, &found.Roster.Users)
	}
	found.Check(func() error { return membership.RequireDiscoverable(found.Caller, found.community, found.mine) })
	if c.permission != "" {
		found.Check(func() error { return membership.Require(found.Caller, c.permission, found.community, found.mine) })
		found.CheckFound(func() bool { return !c.unknown })
	}
	if c.acts {
		found.Check(func() error {
			in := visibility.Target{Community: found.community}
			return found.RequireAuthority(found.Request, found.mine, in.AuthorityOf)
		})
	}
	return found, found.Run(ctx)
}

// rules are the rules of the roster of a community.
func rules(communityID string, now time.Time) roster.Rules[communities.Member, communities.MemberChange] {
	return roster.Rules[communities.Member, communities.MemberChange]{
		UserID:    func(m communities.Member) string { return m.UserID },
		IsMember:  (*communities.Member).IsMember,
		IsBanned:  (*communities.Member).IsBanned,
		ErrBanned: fail.Banned(),
		Join: func(u people.User, m *communities.Member) communities.MemberChange {
			return membership.Join(communityID, u.ID, u.PublicID, m, membership.MemberRoles(), now)
		},
		Ban: func(u people.User, m *communities.Member) communities.MemberChange {
			return membership.Ban(communityID, u.ID, u.PublicID, m, now)
		},
		Remove: func(m communities.Member) communities.MemberChange {
			return membership.Leave(m, communities.StateRemoved, now)
		},
	}
}

var errLastModerator = fail.Forbidden("The community has other members, so its last moderator must make one of them a moderator first")

// apply writes the plan in one transaction at the home of the community.
func (s *Service) apply(ctx context.Context, found *state, p plan) error {
	if !slices.ContainsFunc(p.changes, communities.MemberChange.Needed) && len(p.invite) == 0 {
		return nil
	}
	id := found.community.ID
	tx := s.Store.NewTx(s.HomeOf(id))
	tx.GuardCommunity(id)
	u := membership.NewUpdate(tx, id, p.changes, found.now)
	if !p.mayEndModeration && endsModeration(p.changes) {
		tx.GuardModerator(id, errLastModerator)
	}
	if p.answer.Status != "" {
		ids := service.Map(p.changes, func(c communities.MemberChange) string { return c.New.UserID })
		tx.ResolveJoinRequests(id, ids, p.answer, found.now)
	}
	for _, u := range p.invite {
		i := communities.Invitation{
			ID: s.NewID(tx.Home()), Type: communities.InviteMember, TargetType: communities.InviteToCommunity, TargetID: id,
			CreatedAt: found.now,
		}
		tx.InsertInvitation(membership.NewInvitation(found.Request, i, u), service.ErrConflict)
		s.EmitNotice(tx, service.Notice{Event: service.NoticeInvited, ID: i.ID})
	}
	return u.Commit(ctx, s.Deps, found.Caller.UserID, "")
}

// endsModeration reports whether a moderator is one no longer after the changes.
func endsModeration(changes []communities.MemberChange) bool {
	return slices.ContainsFunc(changes, func(c communities.MemberChange) bool { return c.Old.IsModerator() && !c.New.IsModerator() })
}
