package visibility

import (
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
)

// Place is where something stands: a community with the caller's membership, a wall, or content. Exactly one of Community,
// WallOwnerID and Content is set.
type Target struct {
	Community   *store.Community
	Member      *store.Member // the caller's; nil for a stranger
	WallOwnerID string        // internal id
	Wall        store.Wall    // how the caller stands to the owner of the wall
	Content     bool          // see OnContent
}

// Scope is what the policy needs to know of the place, and of who made the thing in it.
func (p Target) Scope(ownerID string) auth.Scope {
	s := auth.Scope{OwnerID: ownerID, WallOwnerID: p.WallOwnerID}
	if p.Community != nil {
		s.Membership = MembershipOf(p.Member)
	}
	return s
}

// MembershipOf is what the policy needs to know of a membership; nil is a stranger's.
func MembershipOf(m *store.Member) *auth.Membership {
	if m == nil {
		return &auth.Membership{}
	}
	return &auth.Membership{Member: m.State == "member", Banned: m.State == "banned", Roles: m.Roles}
}

// RequireSee returns nil where the caller may read what stands in the place. What stands in a private community that
// strangers cannot even find does not exist for them.
func (p Target) RequireSee(caller *auth.Caller) error {
	if p.Content {
		return nil
	}
	if p.Community == nil {
		return p.requireSeeWall(caller)
	}
	if p.Community.DeletedAt != nil {
		return fail.NotFound()
	}
	err := auth.RequireSee(caller, p.Scope(""), p.Community.IsPublic)
	if err != nil && !p.Community.IsDiscoverable {
		return fail.NotFound()
	}
	return err
}

// requireSeeWall: a wall does not exist for those whom its owner blocks, and where profiles are private it is for those
// whom the owner accepted as followers. Neither holds for the owner and for those who may view posts everywhere.
func (p Target) requireSeeWall(caller *auth.Caller) error {
	switch {
	case p.WallOwnerID == "":
		return fail.NotFound()
	case caller.UserID == p.WallOwnerID || auth.Allowed(caller, auth.ViewPostAndComment, auth.Scope{}):
		return nil
	case p.Wall.Blocked:
		return fail.NotFound()
	case p.Wall.Private && !p.Wall.Follows:
		return fail.PermissionDenied()
	}
	return nil
}

// RequireReact returns nil where the caller may flag or comment on what stands in the place: whoever may read it and is
// not banned from it.
func (p Target) RequireReact(caller *auth.Caller) error {
	if err := p.RequireSee(caller); err != nil {
		return err
	}
	if m := MembershipOf(p.Member); p.Community != nil && m.Banned {
		return fail.Banned()
	}
	return nil
}

// Moderates reports whether the caller moderates the posts and comments of the place.
func (p Target) Moderates(caller *auth.Caller) bool {
	return auth.Allowed(caller, auth.ModeratePostAndComment, p.Scope(""))
}
