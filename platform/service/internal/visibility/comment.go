package visibility

import (
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
)

// RequireSeeComment keeps comments that are not approved to their authors and to the moderators of the place. For others they do not
// exist.
func (p Target) RequireSeeComment(caller *auth.Caller, c *store.Comment) error {
	mine := c.AuthorID == caller.UserID
	if c.ApprovalStatus != store.Approved && !mine && !p.Moderates(caller) {
		return fail.NotFound()
	}
	return nil
}

// RequireApproved refuses whatever is done to a comment that is shown to everybody: answers, flags, reactions.
func RequireApproved(c *store.Comment) error {
	if c.ApprovalStatus != store.Approved {
		return fail.NotFound()
	}
	return nil
}
