package membership

import (
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// CreatorRoles are the roles of whoever makes a community.
func CreatorRoles() []string {
	return []string{auth.RoleCommunityModerator, auth.RoleChannelModerator}
}

// MemberRoles are the roles of whoever joins a community or is added to it.
func MemberRoles() []string { return []string{auth.RoleCommunityMember, auth.RoleChannelMember} }

// RequireLive returns 400400 for a community that is not there or deleted.
func RequireLive(c *store.Community) error {
	if c == nil || c.DeletedAt != nil {
		return fail.NotFound()
	}
	return nil
}

// RequireFind returns 400400 for a community that is not there, deleted, or hidden from the caller: whoever may not know of one hears
// what they would hear if there were none. It goes before everything that the answer could tell them.
func RequireFind(caller *auth.Caller, c *store.Community, mine *store.Member) error {
	if err := RequireLive(c); err != nil {
		return err
	}
	if !CanFind(caller, *c, mine) {
		return fail.NotFound()
	}
	return nil
}

// CanFind reports whether the caller may know that a community exists. A private one that is not discoverable exists for
// its members alone, and for those who may see every community of the network.
func CanFind(caller *auth.Caller, c store.Community, mine *store.Member) bool {
	return c.IsPublic || c.IsDiscoverable || mine.IsMember() || SeesEverything(caller)
}

// SeesEverything reports whether a network role lets the caller see every community.
func SeesEverything(caller *auth.Caller) bool {
	return auth.Allowed(caller, auth.ViewCommunity, auth.Scope{})
}

// Join is the change that makes somebody a member with roles; who is a member already keeps the roles they have.
func Join(communityID, userID, publicID string, old *store.Member, roles []string, now time.Time) store.MemberChange {
	if old.IsMember() {
		return store.MemberChange{Old: old, New: *old}
	}
	joined := store.Member{
		CommunityID: communityID, UserID: userID, UserPublicID: publicID, State: store.StateMember,
		Roles: roles, JoinedAt: now, CreatedAt: now, UpdatedAt: now,
	}
	if old != nil {
		joined.CreatedAt = old.CreatedAt
	}
	return store.MemberChange{Old: old, New: joined}
}

// Leave is the change that ends a membership with state, and its roles with it.
func Leave(old store.Member, state string, now time.Time) store.MemberChange {
	ended := old
	ended.State, ended.Roles = state, nil
	if old.State != state {
		ended.UpdatedAt = now
	}
	return store.MemberChange{Old: &old, New: ended}
}

// SetRoles is the change that gives a member other roles.
func SetRoles(old store.Member, roles []string, now time.Time) store.MemberChange {
	changed := old
	changed.Roles = roles
	if !slices.Equal(old.Roles, roles) {
		changed.UpdatedAt = now
	}
	return store.MemberChange{Old: &old, New: changed}
}

// InsertInvitation completes an invitation of a user by the caller; an administrator has no account to name.
func NewInvitation(r *service.Request, i store.Invitation, u store.User) store.Invitation {
	i.InvitedID, i.InvitedPublicID, i.Status = u.ID, u.PublicID, store.JoinPending
	if by := r.User(); by != nil {
		i.InviterID, i.InviterPublicID = by.ID, by.PublicID
	}
	return i
}
