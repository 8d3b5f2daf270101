package auth

import "github.com/plaza-social/plaza/platform/fail"

// Scope is the resource on which a permission is checked, and the caller's relation to its community.
type Scope struct {
	// OwnerID is the internal id of the resource's owner: the author of a post or comment, the creator of a community,
	// the user itself for EDIT_USER. It is empty if the resource has no owner.
	OwnerID string
	// WallOwnerID is the internal id of the user in whose feed the resource is; empty elsewhere.
	WallOwnerID string
	// Membership is the caller's membership in the resource's community; &Membership{} for a non-member. It is nil if
	// the resource has no community or the membership was not read; then only network roles allow anything in a
	// community.
	Membership *Membership
	// Creating is whether the caller creates the resource, which is no privilege even if a role grants it.
	Creating bool
}

// Membership is a user's relation to a community.
type Membership struct {
	Member bool
	Banned bool
	Roles  []string // held in the community; ignored unless Member
}

// ownRights are the permissions that owners have on their own resources. The value is true for those exercised in a
// community, which a ban revokes.
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
	ManageCommunityEvents:  true,
	ManageCommunityStory:   true,
	ManageStory:            false,
}

// wallRights are the permissions on content that others posted to the user's own feed: deleting it, not editing it.
var wallRights = setOf([]Permission{DeleteUserFeedPost, DeleteUserFeedComment})

// Allowed decides whether the caller has permission p in scope s. No other function decides that. The first matching
// rule wins:
//
//	1 anonymous, or a user that was not confirmed      no
//	2 administrator                                    yes
//	3 a network role of the user grants p              yes
//	4 banned from the community                        no
//	5 member, and a role of the membership grants p    yes
//	6 owner of the resource, and p is an own right     yes
//	7 owner of the feed, and p is a wall right         yes
//	8 otherwise                                        no
//
// Rules 3 and 5 ignore roles of other scopes. Rule 6 requires a known membership for rights exercised in a community,
// or a ban could be overlooked; users who left the community still own what they created.
func Allowed(c *Caller, p Permission, s Scope) bool {
	if c == nil {
		return false
	}
	c.decided.Store(true)
	allowed := decide(c, p, s)
	if allowed {
		c.exercise(p, s)
	}
	return allowed
}

// Permits is Allowed for what a response shows and for exemptions from rules. It neither counts as the check of a
// permission that an operation declares nor as its exercise.
func Permits(c *Caller, p Permission, s Scope) bool { return c != nil && decide(c, p, s) }

// ModeratesStories reports whether the caller moderates stories everywhere or manages those of a target with the scope s.
func ModeratesStories(c *Caller, s Scope) bool {
	return Permits(c, ModerateStory, Scope{}) || Permits(c, ManageCommunityStory, s)
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
	}
	return owns(c, p, s)
}

// owns reports whether the caller has permission p as the owner of the resource or of the feed.
func owns(c *Caller, p Permission, s Scope) bool {
	switch {
	case s.banned():
		return false
	case s.ownedBy(c) && s.isOwnRight(p):
		return true
	}
	return s.WallOwnerID != "" && s.WallOwnerID == c.UserID && wallRights[p]
}

// Require returns nil if Allowed returns true, and otherwise the error that explains the refusal:
//
//	anonymous                                                400100
//	not confirmed                                            500000, a programming error
//	banned from the community, but allowed otherwise         400304
//	any other reason                                         400300, the contract's message
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

// RequireSelf returns nil if the caller is an administrator or the user with the internal id userID, and 400300
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

// RequireMember returns nil if the caller may post, comment, react and flag in the community of s. It returns 400304
// for banned users and 400301 for non-members. Administrators and users with a network role that grants
// CREATE_PRIVILEGED_POST may do so in every community.
func RequireMember(c *Caller, s Scope) error {
	return requireMembership(c, s, CreatePrivilegedPost, false)
}

// RequireSee returns nil if the caller may read the content of the community of s. Public communities are readable by
// every user, even a banned one, who could read them under another account. Private communities are readable by members
// and by users with a network role that grants VIEW_POST_AND_COMMENT. Otherwise it returns 400304 or 400301.
func RequireSee(c *Caller, s Scope, public bool) error {
	return requireMembership(c, s, ViewPostAndComment, public)
}

// requireMembership returns nil if everyone is admitted, or the caller is a member, an administrator or a user with a
// network role that grants p.
func requireMembership(c *Caller, s Scope, p Permission, everyone bool) error {
	if err := requireConfirmed(c); err != nil {
		return err
	}
	c.decided.Store(true)
	switch {
	case everyone || c.Kind == Admin || c.holds(p):
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

// unbanned returns s without the ban.
func (s Scope) unbanned() Scope {
	s.Membership = &Membership{Member: true, Roles: s.Membership.Roles}
	return s
}
