package auth

import "github.com/plaza-social/plaza/platform/fail"

// Scope is what a permission is asked for: the thing, and how the caller stands to the community it is in.
type Scope struct {
	// OwnerID is the internal id of the user that made the thing: the author of the post or comment, the creator of the
	// community, the user itself for EDIT_USER. Empty where nobody owns it.
	OwnerID string
	// WallOwnerID is the internal id of the user on whose wall the thing is; empty elsewhere.
	WallOwnerID string
	// Membership is the caller's in the community that the thing is or is in; &Membership{} for a stranger. Nil where no
	// community is concerned, or where it was not read: then nothing in a community is allowed but by network roles.
	Membership *Membership
}

// Membership is how the caller stands to a community.
type Membership struct {
	Member bool
	Banned bool
	Roles  []string // held in the community; count for members alone
}

// ownRights are the permissions that come with owning the thing. The value is true for those that are exercised in a
// community, where a ban takes them away.
var ownRights = map[Permission]bool{
	EditUser:               false,
	EditUserFeedPost:       false,
	DeleteUserFeedPost:     false,
	EditUserFeedComment:    false,
	DeleteUserFeedComment:  false,
	EditMessage:            false,
	DeleteMessage:          false,
	EditCommunity:          true,
	DeleteCommunity:        true,
	EditCommunityPost:      true,
	DeleteCommunityPost:    true,
	EditCommunityComment:   true,
	DeleteCommunityComment: true,
	DeleteEvent:            true,
	ManageCommunityStory:   true,
	ManageStory:            false,
}

// wallRights are the permissions over what others left on one's own wall: to take it away, not to rewrite it.
var wallRights = setOf([]Permission{DeleteUserFeedPost, DeleteUserFeedComment})

// Allowed decides whether the caller may do p in scope s. It is the one place that does; the first rule that fits wins:
//
//	1 anonymous, or a user that was not confirmed      no
//	2 administrator                                    yes
//	3 a network role of the user grants p              yes
//	4 banned from the community                        no
//	5 member, and a role of the membership grants p    yes
//	6 owner of the thing, and p is an own right        yes
//	7 owner of the wall, and p is a wall right         yes
//	8 otherwise                                        no
//
// In rules 3 and 5 a role counts only where its scope says. In rule 6 an own right inside a community needs the
// membership to be known, or a ban could be overlooked; whoever left the community still owns what they made.
func Allowed(c *Caller, p Permission, s Scope) bool {
	if c == nil {
		return false
	}
	c.decided.Store(true)
	return decide(c, p, s)
}

func decide(c *Caller, p Permission, s Scope) bool {
	switch {
	case !c.Confirmed():
		return false
	case c.Kind == Admin:
		return true
	case c.holds(p):
		return true
	case s.banned():
		return false
	case s.member() && granted(s.Membership.Roles, inMembership, p):
		return true
	case s.ownedBy(c) && s.isOwnRight(p):
		return true
	}
	return s.WallOwnerID != "" && s.WallOwnerID == c.UserID && wallRights[p]
}

// Require returns nil where Allowed says yes, and otherwise the error that names what stands in the way:
//
//	anonymous                                                400100
//	not confirmed                                            500000, a fault of ours
//	banned from the community, and allowed but for that      400304
//	otherwise                                                400300, the contract's sentence
func Require(c *Caller, p Permission, s Scope) error {
	if Allowed(c, p, s) {
		return nil
	}
	if err := requireConfirmed(c); err != nil {
		return err
	}
	if s.banned() && decide(c, p, s.unbanned()) {
		return fail.Banned()
	}
	return fail.NotAllowed()
}

// RequireSelf returns nil where the caller is the user with the internal id userID, or an administrator, and 400300
// otherwise.
func RequireSelf(c *Caller, userID string) error {
	if err := requireConfirmed(c); err != nil {
		return err
	}
	c.decided.Store(true)
	if c.Kind == Admin || (userID != "" && c.UserID == userID) {
		return nil
	}
	return fail.NotAllowed()
}

// RequireMember returns nil where the caller may take part in the community of s: post, comment, react, flag. Banned is
// 400304, not a member is 400301. Administrators and those who may create privileged posts everywhere take part in all.
func RequireMember(c *Caller, s Scope) error {
	if err := requireConfirmed(c); err != nil {
		return err
	}
	c.decided.Store(true)
	switch {
	case c.Kind == Admin || c.holds(CreatePrivilegedPost):
		return nil
	case s.banned():
		return fail.Banned()
	case s.member():
		return nil
	}
	return fail.PermissionDenied()
}

// RequireSee returns nil where the caller may read what is in the community of s. A public one is open to every user,
// also to the banned, who could read it with another name; a private one to members and to those who may view posts and
// comments everywhere. Otherwise it is 400304 for the banned and 400301.
func RequireSee(c *Caller, s Scope, public bool) error {
	if err := requireConfirmed(c); err != nil {
		return err
	}
	c.decided.Store(true)
	switch {
	case public || c.Kind == Admin || c.holds(ViewPostAndComment):
		return nil
	case s.banned():
		return fail.Banned()
	case s.member():
		return nil
	}
	return fail.PermissionDenied()
}

func requireConfirmed(c *Caller) error {
	switch {
	case c == nil || c.Kind == Anonymous:
		return fail.Unauthorized().Because(ErrNoCredentials)
	case !c.Confirmed():
		return fail.Unexpected(ErrUnconfirmed)
	}
	return nil
}

func (s Scope) banned() bool { return s.Membership != nil && s.Membership.Banned }

func (s Scope) member() bool {
	return s.Membership != nil && s.Membership.Member && !s.Membership.Banned
}

func (s Scope) ownedBy(c *Caller) bool { return s.OwnerID != "" && s.OwnerID == c.UserID }

func (s Scope) isOwnRight(p Permission) bool {
	inCommunity, own := ownRights[p]
	return own && (!inCommunity || s.Membership != nil)
}

// unbanned is s as it would be without the ban.
func (s Scope) unbanned() Scope {
	s.Membership = &Membership{Member: true, Roles: s.Membership.Roles}
	return s
}
