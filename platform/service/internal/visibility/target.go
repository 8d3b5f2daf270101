// Package visibility decides who may see posts, stories and comments. It holds the only implementation of that rule:
// services read content with its target through this package, and get the rows from a Request, whose Run makes the
// check, or from Resolve, which makes it for one of several rows.
package visibility

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
)

// Target is where content was posted: a community with the caller's membership, a user's wall, or content of the
// client's own. Exactly one of Community, WallOwnerID and Content is set; nothing on the zero Target is visible to
// anyone.
type Target struct {
	Community   *communities.Community
	Member      *communities.Member // the caller's membership; nil for non-members
	WallOwnerID string              // internal id
	Wall        content.Wall        // the relation of the caller and the owner of the wall
	Content     bool                // see OnContent
}

// of returns the target completed with what only the row that refers to it tells.
func (t Target) of(targetType, targetID string) Target {
	switch targetType {
	case "user":
		t.WallOwnerID = targetID
	case OnContent:
		t.Content = true
	}
	return t
}

// ReadTarget adds the reads of a target to a request, by its type and its internal id. A malformed id reads nothing.
func ReadTarget(r *service.Request, targetType, id string, into *Target) {
	*into = into.of(targetType, id)
	switch targetType {
	case OnContent:
	case "user":
		r.Wall(id, r.Caller.UserID, &into.Wall)
	default:
		r.Community(id, &into.Community)
		r.Member(id, r.Caller.UserID, &into.Member)
	}
}

// IsPrivate reports whether some users of the network may not read what is published on the target.
func (t Target) IsPrivate() bool {
	return t.Community != nil && !t.Community.IsPublic || t.Wall.Private
}

// IsDeleted reports whether the target is a deleted community.
func (t Target) IsDeleted() bool { return t.Community != nil && t.Community.DeletedAt != nil }

// BeforeDeletion returns the target as if it were not deleted.
func (t Target) BeforeDeletion() Target {
	if t.IsDeleted() {
		kept := *t.Community
		kept.DeletedAt = nil
		t.Community = &kept
	}
	return t
}

// Scope returns what the policy needs to know about the target, and about the author of something on it.
func (t Target) Scope(ownerID string) auth.Scope {
	s := auth.Scope{OwnerID: ownerID, WallOwnerID: t.WallOwnerID}
	if t.Community != nil {
		s.Membership = MembershipOf(t.Member)
	}
	return s
}

// MembershipOf returns what the policy needs to know about a membership; m is nil for non-members.
func MembershipOf(m *communities.Member) *auth.Membership {
	if m == nil {
		return &auth.Membership{}
	}
	return &auth.Membership{Member: m.State == "member", Banned: m.State == "banned", Roles: m.Roles}
}

// RequireSee returns nil if the caller may read what is published on the target. Content of a private community that is
// not discoverable does not exist for non-members.
func (t Target) RequireSee(caller *auth.Caller) error {
	if t.Content {
		return nil
	}
	if t.Community == nil {
		return t.requireSeeWall(caller)
	}
	if t.IsDeleted() {
		return fail.NotFound()
	}
	err := auth.RequireSee(caller, t.Scope(""), t.Community.IsPublic)
	if err != nil && !t.Community.IsDiscoverable {
		return fail.NotFound()
	}
	return err
}

// requireSeeWall hides a wall from users whom its owner blocks. Where profiles are private, only accepted followers see
// it. Neither applies to the owner and to callers who may view posts everywhere.
func (t Target) requireSeeWall(caller *auth.Caller) error {
	switch {
	case t.WallOwnerID == "":
		return fail.NotFound()
	case caller.UserID == t.WallOwnerID || auth.Allowed(caller, auth.ViewPostAndComment, auth.Scope{}):
		return nil
	case t.Wall.Blocked:
		return fail.NotFound()
	case t.Wall.Private && !t.Wall.Follows:
		return fail.PermissionDenied()
	}
	return nil
}

// RequireReact returns nil if the caller may flag, react to or comment on what is on the target: it is visible to the
// caller, and the caller is not banned from the community.
func (t Target) RequireReact(caller *auth.Caller) error {
	if err := t.RequireSee(caller); err != nil {
		return err
	}
	if m := MembershipOf(t.Member); t.Community != nil && m.Banned {
		return fail.Banned()
	}
	return nil
}

// RequireRight returns an error unless the caller has a permission for what an author wrote on the target: inCommunity
// if the target is a community, and elsewhere otherwise.
func (t Target) RequireRight(caller *auth.Caller, inCommunity, elsewhere auth.Permission, authorID string) error {
	p := elsewhere
	if t.Community != nil {
		p = inCommunity
	}
	return auth.Require(caller, p, t.Scope(authorID))
}

// RequireOverAuthor adds the rest of RequireRight for callers who have the permission by a role, not as the author or as
// the owner of the wall: their authority must not be below that of the author. It takes a round trip for them.
func (t Target) RequireOverAuthor(ctx context.Context, d *service.Deps, caller *auth.Caller, authorID string) error {
	if caller.Kind == auth.Admin || caller.UserID == authorID || caller.UserID == t.WallOwnerID {
		return nil
	}
	author, err := d.AuthorityOf(ctx, authorID, t.ReadAuthority)
	if err != nil {
		return err
	}
	return caller.Authority(t.AuthorityOf(caller.UserID, t.Member)).RequireOverContentOf(author)
}

// AuthorityOf returns the authority that a user has on the target; m is the user's membership.
func (t Target) AuthorityOf(userID string, m *communities.Member) auth.Authority {
	return auth.AuthorityIn(t.Community != nil && t.Community.CreatorID == userID, m.IsModerator())
}

// ReadAuthority queues the read of the membership of a user, and returns the function that then returns AuthorityOf.
func (t Target) ReadAuthority(reads *store.ReadBatch, userID string) func() auth.Authority {
	var member *communities.Member
	if t.Community != nil {
		reads.Member(t.Community.ID, userID, &member)
	}
	return func() auth.Authority { return t.AuthorityOf(userID, member) }
}

// CheckRight adds the checks of RequireRight and RequireOverAuthor to a request. The target and authorID are read when they are
// made.
func CheckRight(r *service.Request, t *Target, inCommunity, elsewhere auth.Permission, authorID func() string) {
	r.Check(func() error { return t.RequireRight(r.Caller, inCommunity, elsewhere, authorID()) })
	r.AfterRun(func(ctx context.Context) error { return t.RequireOverAuthor(ctx, r.Deps, r.Caller, authorID()) })
}

// Moderates reports whether the caller moderates the posts and comments of the target.
func (t Target) Moderates(caller *auth.Caller) bool {
	return auth.Permits(caller, auth.ModeratePostAndComment, t.Scope(""))
}

// ReviewsPostOf reports whether a post by the caller on the target waits for approval, and ReviewsCommentOf a comment.
func (t Target) ReviewsPostOf(caller *auth.Caller) bool {
	return t.Community != nil && t.Community.PostApproval && !t.Moderates(caller)
}

// ReviewsCommentOf is ReviewsPostOf for comments.
func (t Target) ReviewsCommentOf(caller *auth.Caller) bool {
	return t.Community != nil && t.Community.CommentApproval && !t.Moderates(caller)
}

// RequireSeePost returns nil if the caller may see a post on the target. A post that is not published is visible to its
// author and to moderators.
func (t Target) RequireSeePost(caller *auth.Caller, post *content.Post) error {
	if err := t.RequireSee(caller); err != nil {
		return err
	}
	mine := post.AuthorID == caller.UserID
	if post.FeedType != "published" && !mine && !t.Moderates(caller) {
		return fail.NotFound()
	}
	return nil
}

// requireSeeStory returns nil if the caller may see a story on the target.
func (t Target) requireSeeStory(caller *auth.Caller, story *content.Story, now time.Time) error {
	if !story.IsLive(now) {
		return fail.NotFound()
	}
	if err := t.RequireSee(caller); err != nil {
		return err
	}
	if story.HiddenAt != nil && story.AuthorID != caller.UserID && !auth.ModeratesStories(caller, t.Scope("")) {
		return fail.NotFound()
	}
	return nil
}

// RequireSeeComment returns 400400 for a comment that is not approved, unless the caller is its author or a moderator.
func (t Target) RequireSeeComment(caller *auth.Caller, c *content.Comment) error {
	mine := c.AuthorID == caller.UserID
	if c.ApprovalStatus != content.Approved && !mine && !t.Moderates(caller) {
		return fail.NotFound()
	}
	return nil
}

// Known returns the rows of the target and of users, for a response about something on the target.
func (t Target) Known(users []people.User) view.Rows {
	k := view.Rows{Users: users}
	if t.Community != nil {
		k.Communities = []communities.Community{*t.Community}
	}
	if t.Member != nil {
		k.Members = []communities.Member{*t.Member}
	}
	return k
}
