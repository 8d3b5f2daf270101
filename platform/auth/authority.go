package auth

import (
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
)

// Authority is the rank of a user for operations on other users and on what they wrote: banning, muting, removing,
// changing roles, editing and deleting.
//
// A user acts only on users of lower authority. Two users of the same authority may not act on each other, because one
// hostile moderator could otherwise remove all others. What a user wrote may also be edited and deleted by users of the
// same authority. Permissions are required in addition.
type Authority int

// The ranks. Roles of the network are above all roles in one community or channel, and the ranks in one community or
// channel do not count elsewhere. A custom role has the rank of the permissions that it grants.
const (
	AuthorityNone             Authority = iota
	AuthorityModerator                  // of the community or channel
	AuthorityCreator                    // of the community or channel, also after leaving it
	AuthorityNetworkModerator           // a network role with a permission to moderate
	AuthoritySuperModerator             // a network role with BAN_USER
	AuthorityGlobalAdmin                // a network role with MANAGE_ADMIN
	AuthorityAdministrator              // an administrator without an account
)

// AuthorityIn returns the authority in a community or channel of which the user is the creator or a moderator, or
// neither.
func AuthorityIn(isCreator, isModerator bool) Authority {
	switch {
	case isCreator:
		return AuthorityCreator
	case isModerator:
		return AuthorityModerator
	}
	return AuthorityNone
}

// AuthorityOf returns the authority of a user with network roles, who has the authority inPlace in the community or
// channel concerned.
func (c *Catalog) AuthorityOf(roles []string, inPlace Authority) Authority {
	return max(inPlace, authorityBy(func(p Permission) bool {
		return granted(roles, inNetwork, p) || slices.Contains(c.Granted(roles), p)
	}))
}

// Authority returns the authority of a confirmed caller, who has the authority inPlace in the community or channel
// concerned.
func (c *Caller) Authority(inPlace Authority) Authority {
	if c.Kind == Admin {
		return AuthorityAdministrator
	}
	return max(inPlace, authorityBy(c.holds))
}

// networkModeration are the permissions to act on other users in the whole network.
var networkModeration = slices.Concat(
	consoleModeration, memberModeration, contentModeration, channelModeration, wallModeration, []Permission{EditUser, AssignUserRole},
)

func authorityBy(holds func(Permission) bool) Authority {
	switch {
	case holds(ManageAdmin):
		return AuthorityGlobalAdmin
	case holds(BanUser):
		return AuthoritySuperModerator
	case slices.ContainsFunc(networkModeration, holds):
		return AuthorityNetworkModerator
	}
	return AuthorityNone
}

// RequireOver returns nil if a user with this authority may act on one with the other authority, and 400300 otherwise.
func (a Authority) RequireOver(other Authority) error { return allowedIf(a > other) }

// RequireOverContentOf returns nil if a user with this authority may edit and delete what one with the other authority
// wrote, and 400300 otherwise.
func (a Authority) RequireOverContentOf(other Authority) error { return allowedIf(a >= other) }

func allowedIf(allowed bool) error {
	if allowed {
		return nil
	}
	return fail.NotAllowed()
}
