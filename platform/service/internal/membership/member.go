package membership

import (
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store/communities"
)

// CreatorRoles returns the roles of the creator of a community.
func CreatorRoles() []string {
	return []string{auth.RoleCommunityModerator, auth.RoleChannelModerator}
}

// MemberRoles returns the roles of users who join a community or are added to it.
func MemberRoles() []string { return []string{auth.RoleCommunityMember, auth.RoleChannelMember} }

// Join returns the change that makes a user a member with roles. A user who is a member already keeps their roles.
func Join(communityID, userID, publicID string, old *communities.Member, roles []string, now time.Time) communities.MemberChange {
	if old.IsMember() {
		return communities.MemberChange{Old: old, New: *old}
	}
	joined := communities.Member{
		CommunityID: communityID, UserID: userID, UserPublicID: publicID, State: communities.StateMember,
		Roles: roles, JoinedAt: now, CreatedAt: now, UpdatedAt: now,
	}
	if old != nil {
		joined.CreatedAt = old.CreatedAt
	}
	return communities.MemberChange{Old: old, New: joined}
}

// Leave returns the change that ends a membership or a ban, and takes the user's roles. state is StateLeft or
// StateRemoved.
func Leave(old communities.Member, state string, now time.Time) communities.MemberChange {
	ended := old
	ended.State, ended.Roles = state, nil
	return change(old, ended, now)
}

// Ban returns the change that bans a user, who need not have been a member.
func Ban(communityID, userID, publicID string, old *communities.Member, now time.Time) communities.MemberChange {
	if old != nil {
		return Leave(*old, communities.StateBanned, now)
	}
	c := Join(communityID, userID, publicID, nil, nil, now)
	c.New.State = communities.StateBanned
	return c
}

// SetRoles returns the change that replaces the roles of a member.
func SetRoles(old communities.Member, roles []string, now time.Time) communities.MemberChange {
	changed := old
	changed.Roles = roles
	return change(old, changed, now)
}

func change(old, changed communities.Member, now time.Time) communities.MemberChange {
	c := communities.MemberChange{Old: &old, New: changed}
	if c.Needed() {
		c.New.UpdatedAt = now
	}
	return c
}
