package chat

import (
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// CreatorRoles returns the roles of the creator of a channel.
func CreatorRoles() []string { return []string{auth.RoleChannelModerator} }

// MemberRoles returns the roles of users who join a channel or are added to it.
func MemberRoles() []string { return []string{auth.RoleChannelMember} }

// Join returns the change that makes a user a member with roles. A user who is a member already keeps their roles. A
// user who was muted before they left is still muted.
func Join(channelID, userID, publicID string, old *messaging.ChannelUser, roles []string, now time.Time) messaging.ChannelUserChange {
	if old.IsMember() {
		return messaging.ChannelUserChange{Old: old, New: *old}
	}
	joined := messaging.ChannelUser{
		ChannelID: channelID, UserID: userID, UserPublicID: publicID, Membership: messaging.ChannelMember, Roles: roles,
		JoinedAt: now, CreatedAt: now, UpdatedAt: now,
	}
	if old != nil {
		joined.CreatedAt, joined.MutedUntil = old.CreatedAt, old.MutedUntil
	}
	return messaging.ChannelUserChange{Old: old, New: joined}
}

// Leave returns the change that ends a membership or a ban, and takes the user's roles.
func Leave(old messaging.ChannelUser, now time.Time) messaging.ChannelUserChange {
	return end(old, messaging.ChannelNone, now)
}

// Ban returns the change that bans a user, who need not have been a member.
func Ban(channelID, userID, publicID string, old *messaging.ChannelUser, now time.Time) messaging.ChannelUserChange {
	if old != nil {
		return end(*old, messaging.ChannelBanned, now)
	}
	c := Join(channelID, userID, publicID, nil, nil, now)
	c.New.Membership = messaging.ChannelBanned
	return c
}

func end(old messaging.ChannelUser, membership string, now time.Time) messaging.ChannelUserChange {
	ended := old
	ended.Membership, ended.Roles = membership, nil
	return change(old, ended, now)
}

// SetRoles returns the change that replaces the roles of a member.
func SetRoles(old messaging.ChannelUser, roles []string, now time.Time) messaging.ChannelUserChange {
	changed := old
	changed.Roles = roles
	return change(old, changed, now)
}

// Mute returns the change that mutes a user until a time, or unmutes them if until is nil.
func Mute(old messaging.ChannelUser, until *time.Time, now time.Time) messaging.ChannelUserChange {
	changed := old
	changed.MutedUntil = until
	return change(old, changed, now)
}

func change(old, changed messaging.ChannelUser, now time.Time) messaging.ChannelUserChange {
	c := messaging.ChannelUserChange{Old: &old, New: changed}
	if c.Needed() {
		c.New.UpdatedAt = now
	}
	return c
}
