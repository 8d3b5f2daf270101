// Package membership decides who may know of a community, and changes who belongs to it.
package membership

import (
	"context"
	"encoding/json"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
)

// Read adds the reads of a community and of the caller's membership to a request.
func Read(r *service.Request, communityID string, community **communities.Community, mine **communities.Member) {
	r.Community(communityID, community)
	r.Member(communityID, r.Caller.UserID, mine)
}

// RequireExists returns 400400 if the community does not exist or is deleted.
func RequireExists(c *communities.Community) error {
	if c == nil || c.DeletedAt != nil {
		return fail.NotFound()
	}
	return nil
}

// RequireDiscoverable returns 400400 if the community does not exist, is deleted, or is hidden from the caller.
// Operations check it first, so that no other error tells the caller that the community exists.
func RequireDiscoverable(caller *auth.Caller, c *communities.Community, mine *communities.Member) error {
	if err := RequireExists(c); err != nil {
		return err
	}
	if !CanDiscover(caller, *c, mine) {
		return fail.NotFound()
	}
	return nil
}

// CanDiscover reports whether the caller may know that a community exists. A private community that is not
// discoverable is hidden from all but its members and those who see all communities.
func CanDiscover(caller *auth.Caller, c communities.Community, mine *communities.Member) bool {
	return c.IsPublic || c.IsDiscoverable || mine.IsMember() || SeesAllCommunities(caller)
}

// SeesAllCommunities reports whether a network role of the caller allows to see all communities.
func SeesAllCommunities(caller *auth.Caller) bool {
	return auth.Allowed(caller, auth.ViewCommunity, auth.Scope{})
}

// Require returns an error unless the caller has the permission p in a community.
func Require(caller *auth.Caller, p auth.Permission, c *communities.Community, mine *communities.Member) error {
	return auth.Require(caller, p, Scope(c, mine))
}

// Scope returns the scope of permissions in a community.
func Scope(c *communities.Community, mine *communities.Member) auth.Scope {
	return auth.Scope{OwnerID: c.CreatorID, Membership: visibility.MembershipOf(mine)}
}

// RequireDelete returns an error unless the caller may delete the community, which its creator and holders of
// DELETE_COMMUNITY in the network may.
func RequireDelete(caller *auth.Caller, c *communities.Community, mine *communities.Member) error {
	scope := Scope(c, mine)
	scope.Membership.Roles = nil
	return auth.Require(caller, auth.DeleteCommunity, scope)
}

// AnswerBy returns the answer to a join request with the caller as its responder. Administrators have no account to
// record.
func AnswerBy(r *service.Request, status string) communities.JoinAnswer {
	a := communities.JoinAnswer{Status: status}
	if u := r.User(); u != nil {
		a.ResponderID, a.ResponderPublicID = u.ID, u.PublicID
	}
	return a
}

// NewInvitation completes an invitation of a user by the caller. Administrators have no account to record.
func NewInvitation(r *service.Request, i communities.Invitation, u people.User) communities.Invitation {
	i.InvitedID, i.InvitedPublicID, i.Status = u.ID, u.PublicID, communities.JoinPending
	if by := r.User(); by != nil {
		i.InviterID, i.InviterPublicID = by.ID, by.PublicID
	}
	return i
}

// Update is a transaction that changes memberships of a community.
type Update struct {
	tx          *store.Tx
	communityID string
	changes     []communities.MemberChange
	now         time.Time
	mirrors     []core.OutboxRow
}

// NewUpdate adds changes of memberships to tx, which must be at the community's home.
func NewUpdate(tx *store.Tx, communityID string, changes []communities.MemberChange, now time.Time) *Update {
	return &Update{tx, communityID, changes, now, tx.ChangeMembers(communityID, changes, now, now.Add(events.Grace))}
}

// Commit adds the events of the changes to the transaction, commits it, and delivers the outbox rows: before it
// returns those that carry memberships and bans to the users' homes, and in the background the events and the rows in soon.
// creatorID is the community's creator if the transaction creates it, and empty otherwise.
func (u *Update) Commit(ctx context.Context, d *service.Deps, callerID, creatorID string, soon ...core.OutboxRow) error {
	if c := u.added(d, creatorID); len(c.Members) > 0 {
		soon = append(soon, events.EmitChange(u.tx, events.CommunityUserAdded, c, callerID, u.now))
	}
	for event, ids := range u.removals(callerID) {
		soon = append(soon, d.EmitChange(ctx, u.tx, event, d.CommunityChange(u.communityID, ids...))...)
	}
	if creatorID != "" {
		soon = append(soon, d.EmitChange(ctx, u.tx, "community.created", d.CommunityChange(u.communityID, creatorID))...)
	}
	bans := u.tx.EmitBans(u.communityID, u.changes, u.now, u.now.Add(events.Grace))
	return d.CommitRows(ctx, u.tx, append(u.mirrors, bans...), soon)
}

// added returns the change of the users who became members, except the one with the id except.
func (u *Update) added(d *service.Deps, except string) events.Change {
	c := d.CommunityChange(u.communityID)
	for _, change := range u.changes {
		if m := change.New; m.IsMember() && !change.Old.IsMember() && m.UserID != except {
			c.UserIDs = append(c.UserIDs, m.UserID)
			c.Members = append(c.Members, events.AddedMember{
				UserID: m.UserID, PublicID: m.UserPublicID, Roles: m.Roles, JoinedAt: m.JoinedAt, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
			})
		}
	}
	for _, row := range u.mirrors {
		var mirrored []communities.MirroredMember
		if row.Topic == communities.TopicMembership && json.Unmarshal(row.Payload, &mirrored) == nil {
			c.Mirrors = append(c.Mirrors, mirrored...)
		}
	}
	return c
}

// removals returns the internal ids of the changed users by the event that reports the change, except for users who
// became members.
func (u *Update) removals(callerID string) map[string][]string {
	byEvent := map[string][]string{}
	for _, c := range u.changes {
		if event := eventOf(callerID, c); event != "" && c.Needed() {
			byEvent[event] = append(byEvent[event], c.New.UserID)
		}
	}
	return byEvent
}

func eventOf(callerID string, c communities.MemberChange) string {
	switch was, is := c.Old.IsMember(), c.New.IsMember(); {
	case !c.Old.IsBanned() && c.New.IsBanned():
		return "community.userBanned"
	case c.Old.IsBanned() && !c.New.IsBanned() && !is:
		return "community.userUnbanned"
	case was && !is && c.New.UserID == callerID:
		return "community.left"
	case was && !is:
		return "community.userRemoved"
	case was && is && len(c.New.Roles) > len(c.Old.Roles):
		return "community.roleAdded"
	case was && is && len(c.New.Roles) < len(c.Old.Roles):
		return "community.roleRemoved"
	case was && is:
		return "community.userChanged"
	}
	return ""
}
